// SPDX-License-Identifier: Apache-2.0
import SQL
import SignedFormats

/// Nonces of request codes, and the time up to which they have been deleted.
///
/// A nonce is unique for an owner (a credential or a MAC token) and a time. Since nonces are
/// deleted eventually, the time up to which they were deleted is stored too, and older codes are
/// refused: so no change of the clock makes a code valid twice.
struct NonceRows {
    let store: any Transaction
}

extension Transaction {
    var nonces: NonceRows { NonceRows(store: self) }
}

extension NonceRows {
    /// How long a nonce is kept after its code was issued, in seconds.
    ///
    /// Much longer than the time for which a code is accepted, so that clocks may differ or be set.
    static var nonceSeconds: Int64 { 300 }

    /// Uses up a nonce; returns false if its owner (16 bytes) has used it with this time before.
    ///
    /// The time is part of the key, because a code with another time was signed anew.
    func keepNonce(
        _ nonce: [UInt8], of owner: [UInt8], issued: Instant
    ) throws(DatabaseFault) -> Bool {
        try store.change(
            """
            INSERT INTO nonce (expires, owner, value) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
            """,
            [
                .integer(Int64(clamping: issued.seconds) + Self.nonceSeconds), .bytes(owner),
                .bytes(nonce),
            ]) == 1
    }

    /// Whether the nonce of a code issued at this time may already be deleted, for example because
    /// a clock was ahead; then a replay could not be detected.
    ///
    /// Call this after `keepNonce`, which waits for a transaction that is deleting that nonce.
    func isForgotten(issued: Instant) throws(DatabaseFault) -> Bool {
        let rows = try store.run("SELECT before FROM forgotten WHERE what = 'nonce'")
        guard let row = rows.first else { return false }
        return Int64(clamping: issued.seconds) + Self.nonceSeconds < (try row.integer(0))
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

/// The tolerance for the time of a request's code.
enum RequestWindow {
    /// In seconds, before and after the server's time.
    static let seconds: Int64 = 30
}
