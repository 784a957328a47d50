// SPDX-License-Identifier: Apache-2.0
import Database

/// From where a request came, as far as it can be told.
struct Origin: Equatable, Sendable {
    /// The address of the sender, or what the proxy says of it.
    let address: String
    /// The header `User-Agent`, cut.
    let agent: String

    /// Cuts what strangers may have chosen.
    init(address: String, agent: String) {
        self.address = printable([UInt8](address.utf8))
        self.agent = printable([UInt8](agent.utf8))
    }
}

/// One line of the audit trail.
struct AuditEntry: Sendable {
    /// What happened.
    enum Event: String, CaseIterable, Sendable {
        case activation = "activation"
        case registration = "registration"
        case commit = "commit"
        case block = "block"
        case unblock = "unblock"
        case removal = "removal"
        case login = "login"
        case refresh = "refresh"
        case revocation = "revocation"
        case macToken = "mac-token"
        case request = "request"
        case operationCreated = "operation-created"
        case operationDecided = "operation-decided"
        case operationCancelled = "operation-cancelled"
        case operationConsumed = "operation-consumed"
        case administration = "administration"
    }

    /// The outcome of what was accepted and awaits its proof.
    static let begun = "begun"

    let event: Event
    /// `ok`, `begun`, or the code of the problem.
    var outcome: String
    var application = ""
    var account = ""
    /// The registration's id; empty if none was found.
    var registration: [UInt8] = []
    /// What else is worth knowing; no secret.
    var detail = ""
}

/// The lines of the audit trail.
struct AuditRows {
    let store: any Transaction
}

extension Transaction {
    var auditTrail: AuditRows { AuditRows(store: self) }
}

extension AuditRows {
    /// Writes a line of the audit trail.
    func note(_ entry: AuditEntry, from origin: Origin, at now: Int64) throws(DatabaseFault) {
        try store.add(
            """
            INSERT INTO audit (time, application, account, registration, event, outcome, address,
                agent, detail)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            [
                .integer(now), .text(entry.application), .text(entry.account),
                .text(hexadecimal(entry.registration)), .text(entry.event.rawValue),
                .text(entry.outcome), .text(origin.address), .text(origin.agent),
                .text(entry.detail),
            ])
    }

    /// Deletes some of the oldest lines from before a moment; gives how many.
    ///
    /// Not those that tell of earlier prunes: who looks at the trail sees since when it is whole.
    func pruneAudit(before moment: Int64, most: Int64) throws(DatabaseFault) -> Int64 {
        Int64(
            try store.run(
                """
                DELETE FROM audit WHERE id IN
                    (SELECT id FROM audit WHERE time < $1
                        AND NOT (event = 'administration' AND detail LIKE 'audit prune %')
                    ORDER BY time LIMIT $2) RETURNING 1
                """, [.integer(moment), .integer(most)]
            ).count)
    }

    /// Lines of the audit trail, the newest last.
    func entries(_ filter: AuditFilter) throws(DatabaseFault) -> [ListedAudit] {
        try store.run(
            """
            SELECT time, event, outcome, application, account, registration, address, agent, detail
            FROM audit
            WHERE time >= $1 AND ($2 = '' OR application = $2) AND ($3 = '' OR account = $3)
                AND ($4 = '' OR event = $4)
            ORDER BY id DESC LIMIT $5
            """,
            [
                .integer(filter.since), .text(filter.application), .text(filter.account),
                .text(filter.event), .integer(filter.most),
            ]
        ).map { (row) throws(DatabaseFault) in
            ListedAudit(
                time: try row.integer(0), event: try row.text(1), outcome: try row.text(2),
                application: try row.text(3), account: try row.text(4),
                registration: try row.text(5), address: try row.text(6), agent: try row.text(7),
                detail: try row.text(8))
        }.reversed()
    }
}

/// Which lines of the audit trail are asked for; an empty text does not choose.
struct AuditFilter: Sendable {
    let since: Int64
    let application: String
    let account: String
    let event: String
    let most: Int64
}

/// A line of the audit trail as it is listed.
struct ListedAudit: Encodable {
    let time: Int64
    let event: String
    let outcome: String
    let application: String
    let account: String
    let registration: String
    let address: String
    let agent: String
    let detail: String
}
