// SPDX-License-Identifier: Apache-2.0
import SQL
import ServerAPI

/// One kind of expired rows, with the statement that deletes them or marks them as expired.
struct Sweep: Sendable {
    /// Deletes or marks up to `$2` rows that expired before `$1`, and returns one row for each.
    let sql: StaticString
    /// How long rows are kept after they expire, in seconds.
    let grace: Int64
    /// Whether the time up to which rows were deleted must be recorded (`noteForgottenNonces`).
    var isNoted = false
    /// Whether the rows that are returned are ids of operations that have expired, of which their
    /// applications are notified.
    var isAnnounced = false

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
        // Registrations that were begun and never proven. The outer condition is checked again when
        // the row is locked.
        Sweep(
            sql: """
                DELETE FROM registration WHERE credential IS NULL AND id IN
                    (SELECT id FROM registration WHERE credential IS NULL AND created < $1 LIMIT $2)
                    RETURNING 1
                """, grace: 3_600),
        // Used tokens are kept as long as their session, so that a second use is detected.
        Sweep(
            sql: """
                DELETE FROM refresh_token WHERE hash IN
                    (SELECT hash FROM refresh_token WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 86_400),
        // The outer condition is checked again: the operation may just have been decided.
        Sweep(
            sql: """
                UPDATE operation SET status = 'EXPIRED' WHERE status = 'PENDING' AND id IN
                    (SELECT id FROM operation WHERE status = 'PENDING' AND expires <= $1 LIMIT $2)
                    RETURNING id
                """, grace: 0, isAnnounced: true),
        // Their outcome remains in the audit trail.
        Sweep(
            sql: """
                DELETE FROM operation WHERE id IN
                    (SELECT id FROM operation WHERE expires < $1 LIMIT $2) RETURNING 1
                """, grace: 30 * 86_400),
        // Only sessions to which no refresh token refers.
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
        // Tokens signed with a retired key are valid for at most a day.
        Sweep(
            sql: """
                DELETE FROM signing_key WHERE id IN
                    (SELECT id FROM signing_key WHERE retired < $1 LIMIT $2) RETURNING 1
                """, grace: 90_000),
    ]
}

/// Deletes and ends rows that are out of date.
struct OldRows {
    let store: any Transaction
}

extension Transaction {
    var old: OldRows { OldRows(store: self) }
}

extension OldRows {
    /// Deletes or marks up to `most` rows of one kind; returns how many.
    func forget(
        _ sweep: Sweep, before now: Int64, most: Int64
    ) throws(DatabaseFault) -> Int64 {
        let rows = try store.run(sweep.sql, [.integer(now - sweep.grace), .integer(most)])
        if sweep.isNoted && !rows.isEmpty {
            try store.nonces.noteForgottenNonces(before: now - sweep.grace)
        }
        if sweep.isAnnounced { try announceExpired(rows, at: now) }
        return Int64(rows.count)
    }

    /// Notes for callbacks that operations have expired, whose ids are the first column of `rows`.
    func announceExpired(_ rows: [Row], at now: Int64) throws(DatabaseFault) {
        for row in rows {
            try store.callbackEvents.note(try row.id(0), as: .expired, at: now)
        }
    }
}
