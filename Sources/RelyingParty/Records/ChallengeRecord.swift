// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI

/// The values that a challenge is bound to; an answer must match all of them.
struct ChallengeBinding: Equatable, Sendable {
    /// How long a challenge is valid, in seconds; `Registrations` has its own longer time.
    static let seconds: Int64 = 60

    let application: Int64
    /// The account's name, which need not exist: challenges are issued for any name.
    let account: String
    /// The device's id.
    let device: DeviceID
    let action: ChallengeAction
}

/// The table `challenge`: challenges that were issued, each with its binding.
///
/// `use` is one conditional UPDATE, so of several concurrent answers to a challenge exactly one
/// succeeds.
struct ChallengeRows {
    let store: any Transaction
}

extension Transaction {
    var challenges: ChallengeRows { ChallengeRows(store: self) }
}

extension ChallengeRows {
    /// Stores a new challenge of 32 bytes that is valid until `expires`, in seconds since 1970.
    func keep(
        challenge: Challenge, binding: ChallengeBinding, issued: Moment, until expires: Int64
    ) throws(DatabaseFault) {
        try store.add(
            """
            INSERT INTO challenge (value, application, account, device, action, expires, issued)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                .id(challenge), .integer(binding.application), .text(binding.account),
                .id(binding.device), .text(binding.action.rawValue), .integer(expires),
                .integer(issued.microseconds),
            ])
    }

    /// Uses up a challenge; returns false if it has another binding, was used, or has expired.
    func use(
        challenge: Challenge, binding: ChallengeBinding, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try store.change(
            """
            UPDATE challenge SET used = $1
            WHERE value = $2 AND application = $3 AND account = $4 AND device = $5 AND action = $6
                AND used IS NULL AND expires > $7
            """,
            [
                .integer(now), .id(challenge), .integer(binding.application),
                .text(binding.account), .id(binding.device), .text(binding.action.rawValue),
                .integer(now),
            ]) == 1
    }

    /// Whether `use` would succeed now; nothing is changed.
    func isUnused(
        challenge: Challenge, binding: ChallengeBinding, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            SELECT 1 FROM challenge
            WHERE value = $1 AND application = $2 AND account = $3 AND device = $4 AND action = $5
                AND used IS NULL AND expires > $6
            """,
            [
                .id(challenge), .integer(binding.application), .text(binding.account),
                .id(binding.device), .text(binding.action.rawValue), .integer(now),
            ]
        ).isEmpty
    }

    /// When a challenge was issued.
    ///
    /// The challenge must exist: call this in the transaction that used it up.
    func issued(challenge: Challenge) throws(DatabaseFault) -> Moment {
        let rows = try store.run(
            "SELECT issued FROM challenge WHERE value = $1", [.id(challenge)])
        guard let row = rows.first else { throw .broken("a challenge in use is gone") }
        return Moment(microseconds: try row.integer(0))
    }
}
