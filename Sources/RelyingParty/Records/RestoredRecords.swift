// SPDX-License-Identifier: Apache-2.0
import SQL

/// One kind of rows that must be invalidated after a database was restored from a backup.
///
/// Since the backup was made, these rows may have been used, ended or replaced.
struct Restored: Sendable {
    /// The plural shown to the administrator.
    let what: String
    /// Ends up to `$2` rows at the time `$1`, and returns one row for each.
    fileprivate let sql: StaticString
    /// Whether the rows that are returned are ids of operations, of whose end their applications
    /// are notified.
    fileprivate var isAnnounced = false

    /// Everything except MAC tokens, in the order of processing.
    static let all = [
        Restored(
            what: "challenges",
            sql: """
                UPDATE challenge SET used = $1 WHERE used IS NULL AND value IN
                    (SELECT value FROM challenge WHERE used IS NULL LIMIT $2) RETURNING 1
                """),
        // Expired operations need no change.
        Restored(
            what: "operations",
            sql: """
                UPDATE operation SET status = 'EXPIRED' WHERE status = 'PENDING' AND id IN
                    (SELECT id FROM operation WHERE status = 'PENDING' AND expires > $1 LIMIT $2)
                    RETURNING id
                """, isAnnounced: true),
        // Approved but not confirmed; older approvals can no longer be confirmed.
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
    /// Ends up to `most` rows of one kind; returns how many.
    func end(_ kind: Restored, at now: Int64, most: Int64) throws(DatabaseFault) -> Int64 {
        let rows = try store.run(kind.sql, [.integer(now), .integer(most)])
        if kind.isAnnounced { try announceExpired(rows, at: now) }
        return Int64(rows.count)
    }

    /// Makes the server refuse all request codes issued until now.
    ///
    /// The nonces used since the backup are not in the database, so a replay could not be detected.
    func forgetNonces(at now: Int64) throws(DatabaseFault) {
        try store.nonces.noteForgottenNonces(
            before: now + RequestWindow.seconds + NonceRows.nonceSeconds + 1)
    }
}
