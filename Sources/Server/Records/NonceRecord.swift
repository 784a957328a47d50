// SPDX-License-Identifier: Apache-2.0
import Database
import SignedFormats

/// The rows of nonces, and up to when they were forgotten.
struct NonceRows {
    let store: any Transaction
}

extension Transaction {
    var nonces: NonceRows { NonceRows(store: self) }
}

extension NonceRows {
    /// How long a nonce is kept after its code was issued, in seconds: longer than any server
    /// accepts the code, so that clocks may differ and be set.
    static var nonceSeconds: Int64 { 300 }

    /// Uses a nonce up; false where its owner (16 bytes) has used it before, with this time: a
    /// code with another time is another code, which was signed or made anew.
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

    /// Whether the nonce of a code issued then may have been forgotten already, because a clock
    /// was ahead: then nobody can tell whether the code was used.
    ///
    /// Asked after `keepNonce`, which waits for whoever is just forgetting that nonce.
    func isForgotten(issued: Instant) throws(DatabaseFault) -> Bool {
        let rows = try store.run("SELECT before FROM forgotten WHERE what = 'nonce'")
        guard let row = rows.first else { return false }
        return Int64(clamping: issued.seconds) + Self.nonceSeconds < (try row.integer(0))
    }

    /// Notes up to which moment nonces were forgotten.
    func noteForgottenNonces(before moment: Int64) throws(DatabaseFault) {
        try store.run(
            """
            INSERT INTO forgotten (what, before) VALUES ('nonce', $1)
            ON CONFLICT (what) DO UPDATE SET before = excluded.before
            WHERE forgotten.before < excluded.before
            """, [.integer(moment)])
    }
}

/// How far a request's moment may be from this server's.
enum RequestWindow {
    /// In seconds, before and after.
    static let seconds: Int64 = 30
}
