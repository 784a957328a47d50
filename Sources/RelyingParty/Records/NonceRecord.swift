// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import SignedFormats

/// The table `nonce`: nonces of request codes, and the time up to which they have been deleted.
///
/// A nonce is unique for its owner (a credential or a MAC token) and the time of its code. Nonces
/// are deleted eventually; the time up to which they were deleted is stored, and older codes are
/// refused. So no change of the clock makes a code valid twice.
struct NonceRows {
    let store: any Transaction
}

extension Transaction {
    var nonces: NonceRows { NonceRows(store: self) }
}

extension NonceRows {
    /// How long a nonce is stored after its code was issued, in seconds.
    ///
    /// This is much longer than a code is accepted, so that clocks may differ or be set.
    static var nonceSeconds: Int64 { 300 }

    /// Uses up a nonce: one row is changed unless its owner has used it with this time before.
    ///
    /// `owner` is the id of a credential or MAC token. The time is part of the key,
    /// because a code with another time has another signature.
    static func keeping(
        _ nonce: [UInt8], of owner: some FixedBytes, issued: Instant
    ) -> BoundStatement {
        BoundStatement(
            """
            INSERT INTO nonce (expires, owner, value) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
            """,
            [
                .integer(Int64(clamping: issued.seconds) + nonceSeconds), .id(owner),
                .bytes(nonce),
            ])
    }

    /// Whether `keeping` would change nothing now, because the nonce was used; nothing is changed.
    func isUsed(
        _ nonce: [UInt8], of owner: some FixedBytes, issued: Instant
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            "SELECT 1 FROM nonce WHERE expires = $1 AND owner = $2 AND value = $3",
            [
                .integer(Int64(clamping: issued.seconds) + Self.nonceSeconds), .id(owner),
                .bytes(nonce),
            ]
        ).isEmpty
    }

    /// Reads the time up to which nonces were deleted, for `isForgotten`.
    static var readingForgotten: BoundStatement {
        BoundStatement("SELECT before FROM forgotten WHERE what = 'nonce'")
    }

    /// Whether the nonce of a code issued at this time may have been deleted already.
    ///
    /// That can be the case if a clock was ahead; a replay could then not be detected, so the code
    /// must be refused. Run `readingForgotten` after `keeping`, which waits for a transaction that
    /// is deleting that nonce.
    static func isForgotten(issued: Instant, by rows: [Row]) throws(DatabaseFault) -> Bool {
        guard let row = rows.first else { return false }
        return Int64(clamping: issued.seconds) + nonceSeconds < (try row.integer(0))
    }

    /// Records the time up to which nonces were deleted; it never moves back.
    func noteForgottenNonces(before moment: Int64) throws(DatabaseFault) {
        try store.run(
            """
            INSERT INTO forgotten (what, before) VALUES ('nonce', $1)
            ON CONFLICT (what) DO UPDATE SET before = excluded.before
            WHERE forgotten.before < excluded.before
            """, [.integer(moment)])
    }
}

/// The tolerance for the time at which a request's code was issued.
enum RequestWindow {
    /// In seconds, before and after the server's time.
    static let seconds: Int64 = 30
}
