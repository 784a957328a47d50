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
        ).map { (row) throws(DatabaseFault) in try ListedAudit(row) }
    }
}

/// The query behind `AuditRows.newest`.
enum AccountTrailQuery {
    static let sql: StaticString = """
        SELECT time, event, outcome, application, account, registration, address, agent, detail,
            api_key
        FROM audit
        WHERE application = $1 AND account = $2 AND id > (SELECT trail FROM account WHERE id = $3)
        ORDER BY id DESC LIMIT $4
        """
}
