// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI

/// An operation that a person is asked to approve or reject: a row of the table `operation`.
struct OperationRecord: Equatable, Sendable {
    let id: OperationID
    let application: Int64
    let account: Int64
    /// The template's name.
    let template: String
    /// The exact text that the device shows and signs.
    let data: String
    /// 32 bytes; given only to devices of the account.
    let challenge: Challenge
    /// The stored status; an operation stored as PENDING may have expired.
    private let kept: OperationStatus
    /// How many decisions with a wrong signature or another text were counted.
    let failures: Int64
    let maximumFailures: Int64
    /// The only device that may decide it; nil if any device of the account may.
    let device: DeviceID?
    /// The digest of the session secret that can confirm a login; nil for other operations.
    let session: [UInt8]?
    /// The application's data about the machine in front of the person, as JSON.
    let additional: String
    let created: Int64
    /// When it was created, in microseconds: the order within a second counts.
    let issued: Moment
    let expires: Int64
    /// When it was ended, other than by expiring.
    let decided: Int64?
    /// The registration whose touch decided it.
    let registration: RegistrationID?
    /// What that registration's device calls itself; nil if it has no name.
    let deviceName: DeviceName?
    /// The address and user agent of the call that decided it; nil if no device has, or none was
    /// stored.
    let approver: Origin?
    /// When the login was confirmed.
    let consumed: Int64?
    /// The factors that approve it, as its template said when it was created.
    let factors: TemplateFactors
    /// The factor by which it was decided (`fingerprint`, `password` or `both`), or the one that
    /// was given first of two; empty before.
    let factor: String
    /// The registration that has given the first of two factors; nil if none has.
    let half: RegistrationID?

    fileprivate init(_ row: Row) throws(DatabaseFault) {
        id = try row.id(0)
        application = try row.integer(1)
        account = try row.integer(2)
        template = try row.text(3)
        data = try row.text(4)
        challenge = try row.id(5)
        guard let kept = OperationStatus(rawValue: try row.text(6)) else {
            throw .broken("an operation of unknown status")
        }
        self.kept = kept
        failures = try row.integer(7)
        maximumFailures = try row.integer(8)
        device = try row.optionalID(9)
        session = try row.optionalBytes(10)
        additional = try row.text(11)
        created = try row.integer(12)
        issued = Moment(microseconds: try row.integer(21))
        expires = try row.integer(13)
        decided = try row.optionalInteger(14)
        registration = try row.optionalID(15)
        consumed = try row.optionalInteger(16)
        guard let factors = TemplateFactors(rawValue: try row.text(17)) else {
            throw .broken("an operation of unknown factors")
        }
        self.factors = factors
        factor = try row.text(18)
        half = try row.optionalID(19)
        deviceName = DeviceName([UInt8]((try row.optionalText(20) ?? "").utf8))
        let (address, agent) = (try row.text(22), try row.text(23))
        approver =
            address.isEmpty && agent.isEmpty ? nil : Origin(address: address, agent: agent)
    }

    /// The factors that approve it for an application with this policy.
    func acceptedFactors(by policy: ApplicationPolicy) -> AcceptedFactors {
        factors.named ?? policy.factors
    }

    /// The status at a given time: a stored PENDING counts as EXPIRED once its time is over.
    func status(at now: Int64) -> OperationStatus {
        kept == .pending && expires <= now ? .expired : kept
    }
}

extension OperationRows {
    func operation(_ id: OperationID) throws(DatabaseFault) -> OperationRecord? {
        let rows = try store.run(
            """
            SELECT id, application, account, template, data, challenge, status, failures,
                max_failures, device, session_hash, additional, created, expires, decided,
                registration, consumed, factors, factor, half,
                (SELECT r.name FROM registration r WHERE r.id = operation.registration), issued,
                approver_address, approver_agent
            FROM operation WHERE id = $1
            """, [.id(id)])
        guard let row = rows.first else { return nil }
        return try OperationRecord(row)
    }

    /// The pending operations that a device may decide for an account, oldest first; 100 at most.
    func pendingOperations(
        ofAccount account: Int64, device: DeviceID, at now: Int64
    ) throws(DatabaseFault) -> [OperationRecord] {
        let rows = try store.run(
            """
            SELECT id, application, account, template, data, challenge, status, failures,
                max_failures, device, session_hash, additional, created, expires, decided,
                registration, consumed, factors, factor, half,
                (SELECT r.name FROM registration r WHERE r.id = operation.registration), issued,
                approver_address, approver_agent
            FROM operation
            WHERE account = $1 AND status = 'PENDING' AND expires > $2
                AND (device IS NULL OR device = $3)
            ORDER BY number LIMIT 100
            """, [.integer(account), .integer(now), .id(device)])
        var operations: [OperationRecord] = []
        for row in rows { operations.append(try OperationRecord(row)) }
        return operations
    }

    /// The newest operations of an account in any status, newest first.
    func latestOperations(
        ofAccount account: Int64, most: Int64
    ) throws(DatabaseFault) -> [OperationRecord] {
        let rows = try store.run(
            """
            SELECT id, application, account, template, data, challenge, status, failures,
                max_failures, device, session_hash, additional, created, expires, decided,
                registration, consumed, factors, factor, half,
                (SELECT r.name FROM registration r WHERE r.id = operation.registration), issued,
                approver_address, approver_agent
            FROM operation WHERE account = $1 ORDER BY number DESC LIMIT $2
            """, [.integer(account), .integer(most)])
        var operations: [OperationRecord] = []
        for row in rows { operations.append(try OperationRecord(row)) }
        return operations
    }

    /// The networks of the account's pending logins for visitors, one entry per login.
    func pendingNetworks(
        ofAccount account: Int64, at now: Int64
    ) throws(DatabaseFault) -> [[UInt8]] {
        try store.run(
            """
            SELECT network FROM operation
            WHERE account = $1 AND status = 'PENDING' AND expires > $2 AND network IS NOT NULL
            """, [.integer(account), .integer(now)]
        ).map { (row) throws(DatabaseFault) in try row.bytes(0) }
    }

    /// Counts an account's pending operations of one purpose, without logins begun for visitors.
    func countPending(
        _ purpose: TemplatePurpose, ofAccount account: Int64, at now: Int64
    ) throws(DatabaseFault) -> Int64 {
        let rows = try store.run(
            """
            SELECT CAST(COUNT(*) AS BIGINT) FROM operation
            WHERE account = $1 AND status = 'PENDING' AND expires > $2
                AND (session_hash IS NULL) = ($3 = 1) AND network IS NULL
            """,
            [
                .integer(account), .integer(now), .integer(purpose == .operation ? 1 : 0),
            ])
        guard let row = rows.first else { return 0 }
        return try row.integer(0)
    }
}
