// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import SQL
import ServerAPI

/// What an application is notified of; the raw values are used in callbacks and in the database.
enum CallbackType: String, CaseIterable, Sendable {
    case operationApproved = "operation.approved"
    case operationRejected = "operation.rejected"
    case operationCancelled = "operation.cancelled"
    /// Too many decisions on it were wrong.
    case operationFailed = "operation.failed"
    case operationExpired = "operation.expired"
    /// A new key was proven, and a person has yet to compare its fingerprint.
    case registrationPending = "registration.pending"
    case registrationActive = "registration.active"
    case registrationBlocked = "registration.blocked"
    case registrationUnblocked = "registration.unblocked"
    case registrationRemoved = "registration.removed"
    case accountBlocked = "account.blocked"
    case accountUnblocked = "account.unblocked"

    /// What the end of an operation is to its application; nil for an operation that has not ended.
    init?(_ status: OperationStatus) {
        switch status {
        case .pending: return nil
        case .approved: self = .operationApproved
        case .rejected: self = .operationRejected
        case .canceled: self = .operationCancelled
        case .failed: self = .operationFailed
        case .expired: self = .operationExpired
        }
    }

    /// What a registration's change of status is to its application; nil for a new registration.
    init?(from: RegistrationStatus, to status: RegistrationStatus) {
        switch status {
        case .created: return nil
        case .pendingCommit: self = .registrationPending
        case .active: self = from == .blocked ? .registrationUnblocked : .registrationActive
        case .blocked: self = .registrationBlocked
        case .removed: self = .registrationRemoved
        }
    }
}

/// An event that waits to be sent: a row of the table `callback_event`.
struct CallbackEvent: Equatable, Sendable {
    let id: CallbackEventID
    let type: String
    /// When it happened, in seconds since 1970.
    let time: Int64
    let account: String
    /// The registration that it is about, or that decided the operation.
    let registration: RegistrationID?
    let operation: OperationID?
    /// `operation` or `login`; empty unless it is about an operation.
    let purpose: String
    /// Why a registration was blocked or removed; empty if that is not known.
    let reason: String
    /// How many attempts to send it have failed.
    let attempts: Int64

    fileprivate init(_ row: Row) throws(DatabaseFault) {
        id = try row.id(0)
        type = try row.text(1)
        time = try row.integer(2)
        account = try row.text(3)
        registration = try row.optionalID(4)
        operation = try row.optionalID(5)
        purpose = try row.text(6)
        reason = try row.text(7)
        attempts = try row.integer(8)
    }
}

/// The table `callback_event`: what has happened and was not sent yet.
///
/// Events are written by the transactions in which they happen, and only for applications that have
/// a callback. So none is lost or sent for a change that was rolled back.
struct CallbackEventRows {
    let store: any Transaction
}

extension Transaction {
    var callbackEvents: CallbackEventRows { CallbackEventRows(store: self) }
}

// Writing an event.
extension CallbackEventRows {
    /// Notes that a registration's status has changed.
    func note(
        _ registration: RegistrationID, from: RegistrationStatus, to status: RegistrationStatus,
        reason: String, at now: Int64
    ) throws(DatabaseFault) {
        guard let type = CallbackType(from: from, to: status) else { return }
        try store.add(
            """
            INSERT INTO callback_event (id, application, type, time, account, registration,
                purpose, reason, attempts, due)
            SELECT $1, b.application, $2, $3, c.name, r.id, '', $4, 0, $3
            FROM registration r JOIN account c ON c.id = r.account
                JOIN callback b ON b.application = c.application
            WHERE r.id = $5
            """,
            [
                .id(try freshID()), .text(type.rawValue), .integer(now), .text(reason),
                .id(registration),
            ])
    }

    /// Notes that an operation has ended.
    func note(
        _ operation: OperationID, as status: OperationStatus, at now: Int64
    ) throws(DatabaseFault) {
        guard let type = CallbackType(status) else { return }
        try store.add(
            """
            INSERT INTO callback_event (id, application, type, time, account, registration,
                operation, purpose, reason, attempts, due)
            SELECT $1, b.application, $2, $3, c.name, o.registration, o.id,
                CASE WHEN o.session_hash IS NULL THEN 'operation' ELSE 'login' END, '', 0, $3
            FROM operation o JOIN account c ON c.id = o.account
                JOIN callback b ON b.application = o.application
            WHERE o.id = $4
            """,
            [.id(try freshID()), .text(type.rawValue), .integer(now), .id(operation)])
    }

    /// Notes that an account was blocked or unblocked.
    func note(
        account: Int64, isBlocked: Bool, at now: Int64
    ) throws(DatabaseFault) {
        let type = isBlocked ? CallbackType.accountBlocked : .accountUnblocked
        try store.add(
            """
            INSERT INTO callback_event (id, application, type, time, account, purpose, reason,
                attempts, due)
            SELECT $1, b.application, $2, $3, c.name, '', '', 0, $3
            FROM account c JOIN callback b ON b.application = c.application
            WHERE c.id = $4
            """,
            [.id(try freshID()), .text(type.rawValue), .integer(now), .integer(account)])
    }

    /// Random, so that an event after a restore never has the id of one from before.
    private func freshID() throws(DatabaseFault) -> CallbackEventID {
        do throws(SystemFault) {
            return CallbackEventID(random: try randomBytes(CallbackEventID.count))
        } catch { throw .broken("no random bytes: \(error)") }
    }
}

// Sending and forgetting events.
extension CallbackEventRows {
    /// The events of an application that are due, those that wait longest first.
    ///
    /// `horizon` is the longest time that an event is put off: one that is due later still was put
    /// off under a wrong clock, and counts as due.
    func due(
        of application: Int64, at now: Int64, horizon: Int64, most: Int64
    ) throws(DatabaseFault) -> [CallbackEvent] {
        try store.run(
            """
            SELECT id, type, time, account, registration, operation, purpose, reason, attempts
            FROM callback_event WHERE application = $1 AND (due <= $2 OR due > $3)
            ORDER BY due, number LIMIT $4
            """, [.integer(application), .integer(now), .integer(now + horizon), .integer(most)]
        ).map { (row) throws(DatabaseFault) in try CallbackEvent(row) }
    }

    /// Deletes an event that was delivered.
    func delete(_ event: CallbackEventID) throws(DatabaseFault) {
        try store.add("DELETE FROM callback_event WHERE id = $1", [.id(event)])
    }

    /// Counts a failed attempt, and puts the event off.
    func putOff(_ event: CallbackEventID, until moment: Int64) throws(DatabaseFault) {
        try store.add(
            "UPDATE callback_event SET attempts = attempts + 1, due = $1 WHERE id = $2",
            [.integer(moment), .id(event)])
    }

    /// Deletes all events of an application; returns how many.
    func deleteAll(of application: Int64) throws(DatabaseFault) -> Int64 {
        Int64(
            try store.change(
                "DELETE FROM callback_event WHERE application = $1", [.integer(application)]))
    }

    /// Deletes up to `most` events that happened before a time; returns the application of each.
    func dropSome(before moment: Int64, most: Int64) throws(DatabaseFault) -> [String] {
        try store.run(
            """
            DELETE FROM callback_event WHERE number IN
                (SELECT number FROM callback_event WHERE time < $1 ORDER BY time LIMIT $2)
            RETURNING (SELECT name FROM application WHERE id = callback_event.application)
            """, [.integer(moment), .integer(most)]
        ).map { (row) throws(DatabaseFault) in try row.text(0) }
    }

    /// How many events wait, and when the oldest happened; of all applications, or of one.
    func backlog(of application: Int64? = nil) throws(DatabaseFault) -> CallbackBacklog {
        let rows =
            if let application {
                try store.run(
                    """
                    SELECT CAST(COUNT(*) AS BIGINT), MIN(time) FROM callback_event
                    WHERE application = $1
                    """, [.integer(application)])
            } else {
                try store.run(
                    "SELECT CAST(COUNT(*) AS BIGINT), MIN(time) FROM callback_event")
            }
        guard let row = rows.first else { return CallbackBacklog(count: 0, oldest: nil) }
        return CallbackBacklog(count: try row.integer(0), oldest: try row.optionalInteger(1))
    }
}

/// How many events wait to be sent, and when the oldest of them happened.
struct CallbackBacklog: Equatable, Sendable {
    let count: Int64
    let oldest: Int64?
}
