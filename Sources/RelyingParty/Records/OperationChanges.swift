// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI

/// A new operation, before it is stored.
struct NewOperation: Sendable {
    let id: OperationID
    /// 32 bytes.
    let challenge: Challenge
    let account: AccountRecord
    let template: OperationTemplate
    /// The exact text that the device shows and signs.
    let data: String
    /// The only device that may decide it; nil if any device of the account may.
    let device: DeviceID?
    /// The digest of the session secret that can confirm a login; nil for other operations.
    let session: [UInt8]?
    /// The network of the visitor that a login was begun for; nil for all other operations.
    let network: [UInt8]?
    /// The application's data about the machine in front of the person, as JSON.
    let additional: String
    let expires: Int64
}

/// The table `operation`: operations and logins that people approve or reject.
///
/// An operation leaves PENDING once, by a conditional UPDATE, so of several concurrent decisions
/// one takes effect.
struct OperationRows {
    let store: any Transaction
}

extension Transaction {
    var operations: OperationRows { OperationRows(store: self) }
}

// Each update names the status that it requires, so of several concurrent ones, one succeeds.
extension OperationRows {
    /// Stores a new operation with the account's next number.
    ///
    /// Call this behind the account's lock.
    func keep(_ operation: NewOperation, at moment: Moment) throws(DatabaseFault) {
        try store.run(
            """
            INSERT INTO operation (id, application, account, template, data, challenge, status,
                failures, max_failures, device, session_hash, additional, created, expires,
                network, factors, issued, number)
            VALUES ($1, $2, $3, $4, $5, $6, 'PENDING', 0, $7, $8, $9, $10, $11, $12, $13, $14, $15,
                (SELECT COALESCE(MAX(number), 0) + 1 FROM operation WHERE account = $3))
            """,
            [
                .id(operation.id), .integer(operation.account.application),
                .integer(operation.account.id), .text(operation.template.name),
                .text(operation.data), .id(operation.challenge),
                .integer(operation.template.maximumFailures), .id(ifPresent: operation.device),
                optional(operation.session), .text(operation.additional),
                .integer(moment.seconds),
                .integer(operation.expires), optional(operation.network),
                .text(operation.template.factors.rawValue), .integer(moment.microseconds),
            ])
    }

    /// Ends an operation with this status, and notes that for its application's callback.
    ///
    /// Returns false, and changes nothing, unless it is PENDING and has not expired.
    ///
    /// `factor` is the word for how it was decided; empty if no device decided it. `origin` is where
    /// the deciding call came from; nil likewise.
    func end(
        operation: OperationID, as status: OperationStatus, by registration: RegistrationID?,
        factor: String = "", from origin: Origin? = nil, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        let changed = try store.run(
            """
            UPDATE operation SET status = $1, decided = $2, registration = $3, factor = $6,
                approver_address = $7, approver_agent = $8
            WHERE id = $4 AND status = 'PENDING' AND expires > $5 RETURNING id
            """,
            [
                .text(status.rawValue), .integer(now), .id(ifPresent: registration),
                .id(operation), .integer(now), .text(factor), .text(origin?.address ?? ""),
                .text(origin?.agent ?? ""),
            ])
        guard !changed.isEmpty else { return false }
        try store.callbackEvents.note(operation, as: status, at: now)
        return true
    }

    /// Stores the first of two factors, in place of one that another device has given.
    ///
    /// Returns false unless the operation is PENDING and has not expired.
    func keepHalf(
        of operation: OperationID, factor: KeyFactor, by registration: RegistrationID,
        at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            UPDATE operation SET factor = $1, half = $2
            WHERE id = $3 AND status = 'PENDING' AND expires > $4 RETURNING id
            """,
            [.text(factor.rawValue), .id(registration), .id(operation), .integer(now)]
        ).isEmpty
    }

    /// Counts a decision with a wrong signature or text; at the limit the operation becomes FAILED.
    ///
    /// Returns how many failures are left, or nil if the operation is no longer pending.
    func countFailure(ofOperation id: OperationID, at now: Int64) throws(DatabaseFault) -> Int64? {
        let rows = try store.run(
            """
            UPDATE operation SET failures = failures + 1
            WHERE id = $1 AND status = 'PENDING' AND expires > $2
            RETURNING max_failures - failures
            """, [.id(id), .integer(now)])
        guard let row = rows.first else { return nil }
        let left = max(0, try row.integer(0))
        if left == 0 { _ = try end(operation: id, as: .failed, by: nil, at: now) }
        return left
    }

    /// Uses up an approved login, so that it can be confirmed only once.
    ///
    /// Returns false if it was confirmed before, is not APPROVED, has another session secret, or
    /// was not approved after `moment` (seconds since 1970).
    func consume(
        operation: OperationID, session: [UInt8], approvedAfter moment: Int64, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            UPDATE operation SET consumed = $1
            WHERE id = $2 AND session_hash = $3 AND status = 'APPROVED' AND consumed IS NULL
                AND decided > $4
            RETURNING id
            """, [.integer(now), .id(operation), .bytes(session), .integer(moment)]
        ).isEmpty
    }
}

private func optional(_ bytes: [UInt8]?) -> Value {
    bytes.map(Value.bytes) ?? .null
}
