// SPDX-License-Identifier: Apache-2.0
import Database

/// Something that a restored database still offers, and that may have been used, ended or given to
/// another since it was copied.
struct Restored: Sendable {
    /// What it is, in the plural; for the administrator.
    let what: String
    /// Ends some rows and returns each; at a moment, so many at most.
    fileprivate let sql: StaticString

    /// All but MAC tokens, in the order in which it is ended.
    static let all = [
        Restored(
            what: "challenges",
            sql: """
                UPDATE challenge SET used = $1 WHERE used IS NULL AND value IN
                    (SELECT value FROM challenge WHERE used IS NULL LIMIT $2) RETURNING 1
                """),
        // Those whose time is over are so by themselves.
        Restored(
            what: "operations",
            sql: """
                UPDATE operation SET status = 'EXPIRED' WHERE status = 'PENDING' AND id IN
                    (SELECT id FROM operation WHERE status = 'PENDING' AND expires > $1 LIMIT $2)
                    RETURNING 1
                """),
        // Approved, and not confirmed yet: older ones cannot be confirmed any more.
        Restored(
            what: "approved logins",
            sql: """
                UPDATE operation SET status = 'EXPIRED' WHERE status = 'APPROVED' AND id IN
                    (SELECT id FROM operation WHERE status = 'APPROVED' AND consumed IS NULL
                        AND session_hash IS NOT NULL AND decided + 60 >= $1 LIMIT $2)
                    RETURNING 1
                """),
        Restored(
            what: "activation codes",
            sql: """
                UPDATE activation SET used = $1 WHERE used IS NULL AND hash IN
                    (SELECT hash FROM activation WHERE used IS NULL LIMIT $2) RETURNING 1
                """),
        Restored(
            what: "sessions",
            sql: """
                UPDATE token_session SET revoked = $1, reason = 'restored'
                WHERE revoked IS NULL AND id IN
                    (SELECT id FROM token_session WHERE revoked IS NULL LIMIT $2) RETURNING 1
                """),
    ]

    static let macTokens = Restored(
        what: "MAC tokens",
        sql: """
            UPDATE mac_token SET revoked = $1 WHERE revoked IS NULL AND id IN
                (SELECT id FROM mac_token WHERE revoked IS NULL LIMIT $2) RETURNING 1
            """)
}

extension OldRows {
    /// Ends some of what a restored database still offers; gives how many.
    func end(_ kind: Restored, at now: Int64, most: Int64) throws(DatabaseFault) -> Int64 {
        Int64(try store.run(kind.sql, [.integer(now), .integer(most)]).count)
    }

    /// Has codes of requests from before now refused: which of them were used since the database
    /// was copied, nobody can tell.
    func forgetNonces(at now: Int64) throws(DatabaseFault) {
        try store.nonces.noteForgottenNonces(
            before: now + RequestWindow.seconds + NonceRows.nonceSeconds + 1)
    }
}
