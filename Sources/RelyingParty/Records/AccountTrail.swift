// SPDX-License-Identifier: Apache-2.0
import SQL

extension AuditRows {
    /// The newest audit lines of an account, newest first.
    ///
    /// The audit trail stores names and outlives accounts. Lines from before the account was
    /// created belong to an earlier account of that name and are left out. An index serves this
    /// query, since the trail grows without limit.
    func newest(
        of account: AccountRecord, application: String, most: Int64
    ) throws(DatabaseFault) -> [ListedAudit] {
        try store.run(
            AccountTrailQuery.sql,
            [
                .text(application), .text(account.name), .integer(account.id), .integer(most),
            ]
        ).map { (row) throws(DatabaseFault) in
            ListedAudit(
                time: try row.integer(0), event: try row.text(1), outcome: try row.text(2),
                application: try row.text(3), account: try row.text(4),
                registration: try row.text(5), address: try row.text(6), agent: try row.text(7),
                detail: try row.text(8))
        }
    }
}

/// The query behind `AuditRows.newest`.
enum AccountTrailQuery {
    static let sql: StaticString = """
        SELECT time, event, outcome, application, account, registration, address, agent, detail
        FROM audit
        WHERE application = $1 AND account = $2 AND id > (SELECT trail FROM account WHERE id = $3)
        ORDER BY id DESC LIMIT $4
        """
}
