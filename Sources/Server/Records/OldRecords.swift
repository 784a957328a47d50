// SPDX-License-Identifier: Apache-2.0
import Database

/// What is forgotten or marked, and when.
struct Sweep: Sendable {
    /// Deletes or marks some rows and returns each.
    let sql: StaticString
    /// How long after its end a row is of use, in seconds.
    let grace: Int64
    /// Whether it must be known up to which moment they were forgotten.
    var isNoted = false

    static let all: [Sweep] = [
        Sweep(
            sql: """
                DELETE FROM challenge WHERE value IN
                    (SELECT value FROM challenge WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 0),
        Sweep(
            sql: """
                DELETE FROM nonce WHERE (expires, owner, value) IN
                    (SELECT expires, owner, value FROM nonce WHERE expires < $1 LIMIT $2)
                    RETURNING 1
                """, grace: 0, isNoted: true),
        Sweep(
            sql: """
                DELETE FROM activation WHERE hash IN
                    (SELECT hash FROM activation WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 86_400),
        // Begun and never proven, also where another has replaced it; its challenge is long over. Asked
        // again of the row itself.
        Sweep(
            sql: """
                DELETE FROM registration WHERE credential IS NULL AND id IN
                    (SELECT id FROM registration WHERE credential IS NULL AND created < $1 LIMIT $2)
                    RETURNING 1
                """, grace: 3_600),
        // Used ones stay for as long as their session: that one comes again must be noticed.
        Sweep(
            sql: """
                DELETE FROM refresh_token WHERE hash IN
                    (SELECT hash FROM refresh_token WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 86_400),
        // Asked again of the row itself: it may have been decided after it was found.
        Sweep(
            sql: """
                UPDATE operation SET status = 'EXPIRED' WHERE status = 'PENDING' AND id IN
                    (SELECT id FROM operation WHERE status = 'PENDING' AND expires <= $1 LIMIT $2)
                    RETURNING 1
                """, grace: 0),
        // The audit trail keeps what became of them.
        Sweep(
            sql: """
                DELETE FROM operation WHERE id IN
                    (SELECT id FROM operation WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 30 * 86_400),
        // After the tokens that name them.
        Sweep(
            sql: """
                DELETE FROM token_session WHERE id IN
                    (SELECT s.id FROM token_session s WHERE s.expires < $1 AND NOT EXISTS
                        (SELECT 1 FROM refresh_token r WHERE r.session = s.id) LIMIT $2)
                RETURNING 1
                """, grace: 86_400),
        Sweep(
            sql: """
                DELETE FROM mac_token WHERE id IN
                    (SELECT id FROM mac_token WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 86_400),
        // An approval in the last second is confirmed within a minute.
        Sweep(
            sql: """
                DELETE FROM site_login WHERE hash IN
                    (SELECT hash FROM site_login WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 60),
        Sweep(
            sql: """
                DELETE FROM site_session WHERE hash IN
                    (SELECT hash FROM site_session WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 0),
        // The tokens that it has signed hold for a day at most.
        Sweep(
            sql: """
                DELETE FROM signing_key WHERE id IN
                    (SELECT id FROM signing_key WHERE retired < $1 LIMIT $2) RETURNING 1
                """, grace: 90_000),
    ]
}

/// Rows that are of no use any more.
struct OldRows {
    let store: any Transaction
}

extension Transaction {
    var old: OldRows { OldRows(store: self) }
}

extension OldRows {
    /// Forgets some rows; gives how many.
    func forget(
        _ sweep: Sweep, before now: Int64, most: Int64
    ) throws(DatabaseFault) -> Int64 {
        let gone = try store.run(sweep.sql, [.integer(now - sweep.grace), .integer(most)]).count
        if sweep.isNoted && gone > 0 {
            try store.nonces.noteForgottenNonces(before: now - sweep.grace)
        }
        return Int64(gone)
    }
}
