// SPDX-License-Identifier: Apache-2.0
import Database
import SignedFormats

/// The rows of registrations.
struct RegistrationRows {
    let store: any Transaction
}

extension Transaction {
    var registrations: RegistrationRows { RegistrationRows(store: self) }
}

extension RegistrationRows {
    /// Keeps a new registration, whose key is yet to be proven.
    func keepRegistration(
        _ id: [UInt8], account: Int64, device: [UInt8], at now: Int64
    ) throws(DatabaseFault) {
        _ = try store.run(
            """
            INSERT INTO registration (id, account, device, status, reason, counter, enrolment,
                failures, key_kind, secure_boot, flags, created, changed)
            VALUES ($1, $2, $3, 'CREATED', '', 0, 0, 0, '', '', '', $4, $5)
            """,
            [.bytes(id), .integer(account), .bytes(device), .integer(now), .integer(now)])
    }

    /// Keeps the key that a registration has proven; false where the credential is known already.
    func keepKey(
        of id: [UInt8], _ statement: LoginStatement, key: [UInt8], at now: Int64
    ) throws(DatabaseFault) -> Bool {
        let claims = statement.claims
        guard let counter = Int64(exactly: claims.counter),
            let enrolment = Int64(exactly: claims.enrolment),
            try registration(credential: statement.head.credential) == nil
        else { return false }
        return try !store.run(
            """
            UPDATE registration SET credential = $1, public_key = $2, counter = $3,
                enrolment = $4, key_kind = $5, secure_boot = $6, changed = $7
            WHERE id = $8 AND status = 'CREATED' RETURNING id
            """,
            [
                .bytes(statement.head.credential), .bytes(key), .integer(counter),
                .integer(enrolment), .text("\(claims.integrity.key.word)"),
                .text("\(claims.integrity.secureBoot.word)"), .integer(now), .bytes(id),
            ]
        ).isEmpty
    }

    /// Changes the state, false where it is not `from` any more; tokens of a registration that is
    /// no longer ACTIVE end.
    func setStatus(
        _ registration: [UInt8], from: RegistrationStatus, to status: RegistrationStatus,
        reason: String, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        let changed = try store.run(
            """
            UPDATE registration SET status = $1, reason = $2, changed = $3
            WHERE id = $4 AND status = $5 RETURNING id
            """,
            [
                .text(status.rawValue), .text(reason), .integer(now), .bytes(registration),
                .text(from.rawValue),
            ])
        guard !changed.isEmpty else { return false }
        if status == .blocked || status == .removed {
            try store.sessions.revokeSessions(ofRegistration: registration, reason: reason, at: now)
        }
        // Those of a blocked one only rest: it may be unblocked.
        if status == .removed {
            try store.macTokens.revokeMACTokens(ofRegistration: registration, at: now)
        }
        return true
    }

    /// Keeps what a device says now, since when its counter is what it is, and forgets failures; false
    /// where the counter is not above the one kept, or where the registration is not ACTIVE any more.
    func advance(
        _ registration: [UInt8], to claims: StatementClaims, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        guard let counter = Int64(exactly: claims.counter),
            let enrolment = Int64(exactly: claims.enrolment)
        else { return false }
        return try store.change(
            """
            UPDATE registration SET counter = $1, enrolment = $2, secure_boot = $3, failures = 0,
                last_used = $4, advanced = $4
            WHERE id = $5 AND status = 'ACTIVE' AND counter < $6
            """,
            [
                .integer(counter), .integer(enrolment),
                .text("\(claims.integrity.secureBoot.word)"), .integer(now),
                .bytes(registration), .integer(counter),
            ]) == 1
    }

    /// Marks an ACTIVE registration as used, so that none can block or remove it before this
    /// transaction is over; false where it is not ACTIVE any more.
    func useActive(_ registration: [UInt8], at now: Int64) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            UPDATE registration SET last_used = $1 WHERE id = $2 AND status = 'ACTIVE'
            RETURNING id
            """, [.integer(now), .bytes(registration)]
        ).isEmpty
    }

    /// Counts a counter that went back, and blocks at the limit; gives how many are left, or nil
    /// where it is not counted: the device was not asked after the counter that is kept was taken.
    func countFailure(
        _ registration: [UInt8], askedAt asked: Int64, limit: Int64, at now: Int64
    ) throws(DatabaseFault) -> Int64? {
        let rows = try store.run(
            """
            UPDATE registration SET failures = failures + 1
            WHERE id = $1 AND status = 'ACTIVE' AND (advanced IS NULL OR advanced < $2)
            RETURNING failures
            """, [.bytes(registration), .integer(asked)])
        guard let row = rows.first else { return nil }
        let left = max(0, limit - (try row.integer(0)))
        if left == 0 {
            _ = try setStatus(
                registration, from: .active, to: .blocked, reason: "failures", at: now)
        }
        return left
    }

    /// Notes that a registration was used, to the minute: not every use is worth a write.
    func noteUse(of registration: RegistrationRecord, at now: Int64) throws(DatabaseFault) {
        guard registration.lastUsed.map({ now - $0 >= 60 }) ?? true else { return }
        try store.add(
            "UPDATE registration SET last_used = $1 WHERE id = $2",
            [.integer(now), .bytes(registration.id)])
    }

    /// Gives a registration other flags; a word holds no blank.
    func setFlags(_ flags: [String], of registration: [UInt8]) throws(DatabaseFault) {
        try store.run(
            "UPDATE registration SET flags = $1 WHERE id = $2",
            [.text(flags.joined(separator: " ")), .bytes(registration)])
    }

    /// Forgets what was counted at a registration.
    func forgetFailures(_ registration: [UInt8]) throws(DatabaseFault) {
        try store.add(
            "UPDATE registration SET failures = 0 WHERE id = $1", [.bytes(registration)])
    }
}
