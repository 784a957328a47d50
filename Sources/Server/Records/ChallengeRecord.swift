// SPDX-License-Identifier: Apache-2.0
import Database

/// What a challenge is bound to.
struct ChallengeBinding: Equatable, Sendable {
    /// How long a challenge is good that is not one of a registration.
    static let seconds: Int64 = 60

    let application: Int64
    /// The account's name: also one that does not exist, so that the answer tells nothing.
    let account: String
    /// 16 bytes.
    let device: [UInt8]
    let action: ChallengeAction
}

/// The rows of challenges.
struct ChallengeRows {
    let store: any Transaction
}

extension Transaction {
    var challenges: ChallengeRows { ChallengeRows(store: self) }
}

extension ChallengeRows {
    /// Keeps a new challenge of 32 bytes.
    func keep(
        challenge: [UInt8], _ binding: ChallengeBinding, until expires: Int64
    ) throws(DatabaseFault) {
        try store.add(
            """
            INSERT INTO challenge (value, application, account, device, action, expires)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .bytes(challenge), .integer(binding.application), .text(binding.account),
                .bytes(binding.device), .text(binding.action.rawValue), .integer(expires),
            ])
    }

    /// Uses a challenge up; false unless it was issued for exactly this, is new, and not too old.
    func use(
        challenge: [UInt8], _ binding: ChallengeBinding, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try store.change(
            """
            UPDATE challenge SET used = $1
            WHERE value = $2 AND application = $3 AND account = $4 AND device = $5 AND action = $6
                AND used IS NULL AND expires > $7
            """,
            [
                .integer(now), .bytes(challenge), .integer(binding.application),
                .text(binding.account), .bytes(binding.device), .text(binding.action.rawValue),
                .integer(now),
            ]) == 1
    }

    /// When a challenge was issued that was just used up; not one of a registration.
    func issued(challenge: [UInt8]) throws(DatabaseFault) -> Int64 {
        let rows = try store.run(
            "SELECT expires FROM challenge WHERE value = $1", [.bytes(challenge)])
        guard let row = rows.first else { throw .broken("a challenge in use is gone") }
        return try row.integer(0) - ChallengeBinding.seconds
    }
}
