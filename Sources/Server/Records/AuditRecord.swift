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
    enum Event: String, Sendable {
        case activation, registration, commit, block, unblock, removal
        case login, refresh, revocation
        case macToken = "mac-token"
        case request
        case operationCreated = "operation-created"
        case operationDecided = "operation-decided"
        case operationCancelled = "operation-cancelled"
        case operationConsumed = "operation-consumed"
        case administration
    }

    let event: Event
    /// `ok`, or the code of the problem.
    let outcome: String
    var application = ""
    var account = ""
    /// The registration's id; empty if none was found.
    var registration: [UInt8] = []
    /// What else is worth knowing; no secret.
    var detail = ""
}

extension Transaction {
    /// Writes a line of the audit trail.
    func audit(_ entry: AuditEntry, from origin: Origin, at now: Int64) throws(DatabaseFault) {
        _ = try run(
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
}
