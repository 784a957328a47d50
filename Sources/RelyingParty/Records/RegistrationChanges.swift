// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI
import SignedFormats

/// The table `registration`: the public keys of devices, with their status and counter.
///
/// Every change of status or counter is a conditional UPDATE that reports whether it was applied,
/// so of several concurrent changes one succeeds and the others are refused.
struct RegistrationRows {
    let store: any Transaction
}

extension Transaction {
    var registrations: RegistrationRows { RegistrationRows(store: self) }
}

/// What became of a key that was proven.
enum KeyOutcome: Equatable {
    /// It is stored with its registration.
    case stored
    /// Another registration has the credential.
    case credentialInUse
    /// The registration is no longer CREATED: another proof came first, or it was removed.
    case notCreated
    /// The statement's counter or enrolment exceeds the 63 bits that a column holds.
    case outOfRange
}

extension RegistrationRows {
    /// Stores a new registration in the status CREATED, without a key.
    func keepRegistration(
        _ id: RegistrationID, account: Int64, device: DeviceID, name: DeviceName?, at now: Int64
    ) throws(DatabaseFault) {
        _ = try store.run(
            """
            INSERT INTO registration (id, account, device, status, reason, counter, enrolment,
                failures, key_kind, secure_boot, flags, created, changed, name)
            VALUES ($1, $2, $3, 'CREATED', '', 0, 0, 0, '', '', '', $4, $5, $6)
            """,
            [
                .id(id), .integer(account), .id(device), .integer(now), .integer(now),
                .text(name?.text ?? ""),
            ])
    }

    /// Stores the key that was proven, with the claims of its statement and what is attested of it.
    ///
    /// The registration must still be CREATED, and no other may have the credential.
    func keepKey(
        of id: RegistrationID, statement: LoginStatement, key: [UInt8], passwordKey: [UInt8]?,
        attested: [AttestedProperty], at now: Int64
    ) throws(DatabaseFault) -> KeyOutcome {
        let claims = statement.claims
        guard let counter = Int64(exactly: claims.counter),
            let enrolment = Int64(exactly: claims.enrolment)
        else { return .outOfRange }
        guard try registration(credential: statement.head.credential) == nil else {
            return .credentialInUse
        }
        let isStored = try !store.run(
            """
            UPDATE registration SET credential = $1, public_key = $2, counter = $3,
                enrolment = $4, key_kind = $5, secure_boot = $6, attested = $7, changed = $8,
                password_key = $10
            WHERE id = $9 AND status = 'CREATED' RETURNING id
            """,
            [
                .id(statement.head.credential), .bytes(key), .integer(counter),
                .integer(enrolment), .text("\(claims.integrity.key.word)"),
                .text("\(claims.integrity.secureBoot.word)"),
                .text(attested.map(\.rawValue).joined(separator: " ")), .integer(now), .id(id),
                passwordKey.map(Value.bytes) ?? .null,
            ]
        ).isEmpty
        return isStored ? .stored : .notCreated
    }

    /// Replaces the key for the password of an ACTIVE registration, or adds one; returns false if
    /// the registration is not ACTIVE.
    func setPasswordKey(
        _ key: [UInt8], of registration: RegistrationID, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            UPDATE registration SET password_key = $1, changed = $2
            WHERE id = $3 AND status = 'ACTIVE' RETURNING id
            """, [.bytes(key), .integer(now), .id(registration)]
        ).isEmpty
    }

    /// Changes the status; returns false if the present status is not `from`.
    ///
    /// The change is noted for the application's callback.
    /// BLOCKED and REMOVED also end the registration's token sessions, and REMOVED its MAC tokens.
    func setStatus(
        _ registration: RegistrationID, from: RegistrationStatus, to status: RegistrationStatus,
        reason: String, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        let changed = try store.run(
            """
            UPDATE registration SET status = $1, reason = $2, changed = $3
            WHERE id = $4 AND status = $5 RETURNING id
            """,
            [
                .text(status.rawValue), .text(reason), .integer(now), .id(registration),
                .text(from.rawValue),
            ])
        guard !changed.isEmpty else { return false }
        try store.callbackEvents.note(
            registration, from: from, to: status, reason: reason, at: now)
        if status == .blocked || status == .removed {
            try store.sessions.revokeSessions(ofRegistration: registration, reason: reason, at: now)
        }
        // MAC tokens of a BLOCKED registration are only suspended, because it may be unblocked.
        if status == .removed {
            try store.macTokens.revokeMACTokens(ofRegistration: registration, at: now)
        }
        return true
    }

    /// Stores the counter and state that a device has signed, and resets the failure count.
    ///
    /// Returns false if the counter is not above the stored one, if a number exceeds 63 bits, or if
    /// the registration is not ACTIVE.
    func advance(
        _ registration: RegistrationID, to claims: StatementClaims, at moment: Moment
    ) throws(DatabaseFault) -> Bool {
        guard let counter = Int64(exactly: claims.counter),
            let enrolment = Int64(exactly: claims.enrolment)
        else { return false }
        return try store.change(
            """
            UPDATE registration SET counter = $1, enrolment = $2, secure_boot = $3, failures = 0,
                last_used = $4, advanced = $7
            WHERE id = $5 AND status = 'ACTIVE' AND counter < $6
            """,
            [
                .integer(counter), .integer(enrolment),
                .text("\(claims.integrity.secureBoot.word)"), .integer(moment.seconds),
                .id(registration), .integer(counter), .integer(moment.microseconds),
            ]) == 1
    }

    /// Marks an ACTIVE registration as used, which locks its row until the transaction ends.
    ///
    /// Returns false if it is not ACTIVE.
    func useActive(_ registration: RegistrationID, at now: Int64) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            UPDATE registration SET last_used = $1 WHERE id = $2 AND status = 'ACTIVE'
            RETURNING id
            """, [.integer(now), .id(registration)]
        ).isEmpty
    }

    /// Counts a counter that did not increase; at the limit the registration becomes BLOCKED.
    ///
    /// `asked` is when the device was challenged. Returns how many failures
    /// are left, or nil if this one is not counted, because the device was challenged before the
    /// stored counter was accepted or the registration is not ACTIVE.
    func countFailure(
        _ registration: RegistrationID, askedAt asked: Moment, limit: Int64, at now: Int64
    ) throws(DatabaseFault) -> Int64? {
        let rows = try store.run(
            """
            UPDATE registration SET failures = failures + 1
            WHERE id = $1 AND status = 'ACTIVE' AND (advanced IS NULL OR advanced < $2)
            RETURNING failures
            """, [.id(registration), .integer(asked.microseconds)])
        guard let row = rows.first else { return nil }
        let left = max(0, limit - (try row.integer(0)))
        if left == 0 {
            _ = try setStatus(
                registration, from: .active, to: .blocked, reason: "failures", at: now)
        }
        return left
    }

    /// Records the time of use, but at most once a minute, to save writes.
    func noteUse(of registration: RegistrationRecord, at now: Int64) throws(DatabaseFault) {
        guard registration.lastUsed.map({ now - $0 >= 60 }) ?? true else { return }
        try store.add(
            "UPDATE registration SET last_used = $1 WHERE id = $2",
            [.integer(now), .id(registration.id)])
    }

    /// Replaces a registration's flags; no word may contain a space.
    func setFlags(_ flags: [String], of registration: RegistrationID) throws(DatabaseFault) {
        try store.run(
            "UPDATE registration SET flags = $1 WHERE id = $2",
            [.text(flags.joined(separator: " ")), .id(registration)])
    }

    /// Resets a registration's failure count.
    func forgetFailures(_ registration: RegistrationID) throws(DatabaseFault) {
        try store.add(
            "UPDATE registration SET failures = 0 WHERE id = $1", [.id(registration)])
    }
}
