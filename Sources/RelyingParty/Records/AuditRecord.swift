// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI

/// Who made a request, as far as that is known: address, user agent and API key.
struct Origin: Equatable, Sendable {
    /// The sender's address, or the one reported by a trusted proxy.
    let address: String
    /// The `User-Agent` header, cut to 128 bytes.
    let agent: String
    /// The name of the API key that authenticated the request; empty if none did.
    let apiKey: String

    /// Makes all texts `printable`, because strangers may have chosen them.
    init(address: String, agent: String, apiKey: String = "") {
        self.address = printable([UInt8](address.utf8))
        self.agent = printable([UInt8](agent.utf8))
        self.apiKey = printable([UInt8](apiKey.utf8))
    }

    /// This sender, with the API key that authenticated the request.
    func with(apiKey name: String) -> Origin {
        Origin(address: address, agent: agent, apiKey: name)
    }
}

/// One line of the audit trail, which never contains a secret.
struct AuditEntry: Sendable {
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
        case passwordKey = "password-key"
        case request = "request"
        case operationCreated = "operation-created"
        case operationDecided = "operation-decided"
        case operationCancelled = "operation-cancelled"
        case operationConsumed = "operation-consumed"
        case administration = "administration"
        case apiKey = "api-key"
        case callback = "callback"
    }

    /// The outcome of a registration that was begun and awaits its proof.
    static let begun = "begun"
    /// The outcome of events that could not be delivered to a callback in time.
    static let dropped = "dropped"

    let event: Event
    /// `ok`, `begun`, `dropped`, or the code of the problem.
    var outcome: String
    var application = ""
    var account = ""
    /// The registration's id; nil if none was found.
    var registration: RegistrationID?
    /// Other details; never a secret.
    var detail = ""
}

/// The table `audit`, to which lines are only appended and from which old ones are pruned.
///
/// It stores names instead of references, so that it outlives accounts and applications.
struct AuditRows {
    let store: any Transaction
}

extension Transaction {
    var auditTrail: AuditRows { AuditRows(store: self) }
}

extension AuditRows {
    /// Appends a line to the audit trail; a failure may show only when the transaction is
    /// committed.
    func note(_ entry: AuditEntry, from origin: Origin, at now: Int64) throws(DatabaseFault) {
        try store.add(
            """
            INSERT INTO audit (time, application, account, registration, event, outcome, address,
                agent, detail, api_key)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """,
            values(entry, origin, now))
    }

    /// Appends a line to the audit trail, and returns its id, by which it is sealed at once.
    func noteForSealing(
        _ entry: AuditEntry, from origin: Origin, at now: Int64
    ) throws(DatabaseFault) -> Int64 {
        let rows = try store.run(
            """
            INSERT INTO audit (time, application, account, registration, event, outcome, address,
                agent, detail, api_key)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id
            """, values(entry, origin, now))
        guard let row = rows.first else { throw .broken("a line was not appended") }
        return try row.integer(0)
    }

    private func values(_ entry: AuditEntry, _ origin: Origin, _ now: Int64) -> [Value] {
        [
            .integer(now), .text(entry.application), .text(entry.account),
            .text(entry.registration.map(hexadecimal) ?? ""), .text(entry.event.rawValue),
            .text(entry.outcome), .text(origin.address), .text(origin.agent),
            .text(entry.detail), .text(origin.apiKey),
        ]
    }

    /// Returns the newest lines that match the filter, in ascending order.
    func entries(_ filter: AuditFilter) throws(DatabaseFault) -> [ListedAudit] {
        try store.run(
            """
            SELECT time, event, outcome, application, account, registration, address, agent, detail,
                api_key
            FROM audit
            WHERE time >= $1 AND ($2 = '' OR application = $2) AND ($3 = '' OR account = $3)
                AND ($4 = '' OR event = $4) AND ($5 = '' OR api_key = $5)
            ORDER BY id DESC LIMIT $6
            """,
            [
                .integer(filter.since), .text(filter.application), .text(filter.account),
                .text(filter.event), .text(filter.apiKey), .integer(filter.most),
            ]
        ).map { (row) throws(DatabaseFault) in try ListedAudit(row) }.reversed()
    }
}

extension [ListedAudit] {
    /// These lines with the names of their devices.
    func named(in store: any Transaction) throws(DatabaseFault) -> [ListedAudit] {
        let names = try store.registrations.deviceNames(of: map(\.registration))
        return map { line in
            var line = line
            line.deviceName = names[line.registration]
            return line
        }
    }
}

/// Selects lines of the audit trail; an empty text matches every line.
struct AuditFilter: Sendable {
    let since: Int64
    let application: String
    let account: String
    let event: String
    let apiKey: String
    let most: Int64
}

/// A line of the audit trail as it is listed for readers.
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
    /// The name of the API key of the call; empty if it had none.
    let apiKey: String
    /// What the registration's device calls itself; nil if it has no name, or was not looked up.
    ///
    /// It is no part of the line, and is not sealed.
    var deviceName: DeviceName?

    /// Reads 10 columns, starting at `first`.
    init(_ row: Row, from first: Int = 0) throws(DatabaseFault) {
        time = try row.integer(first)
        event = try row.text(first + 1)
        outcome = try row.text(first + 2)
        application = try row.text(first + 3)
        account = try row.text(first + 4)
        registration = try row.text(first + 5)
        address = try row.text(first + 6)
        agent = try row.text(first + 7)
        detail = try row.text(first + 8)
        apiKey = try row.text(first + 9)
    }
}
