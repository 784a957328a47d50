// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI

/// The table `heartbeat`: one row, which health checks write while no one else writes.
struct HeartbeatRows {
    let store: any Transaction
}

extension Transaction {
    var heartbeats: HeartbeatRows { HeartbeatRows(store: self) }
}

extension HeartbeatRows {
    /// How many random bytes a beat takes: more than a page, so that pages must be allocated.
    static let paddingCount = 8_192

    /// Does what a login does to the database, and leaves no trace but the row's new content.
    ///
    /// It allocates pages, stores and deletes a challenge, and reads the newest line of the audit
    /// trail. So it fails if the disk is full, or if a page is damaged that each login writes.
    ///
    /// - Parameters:
    ///   - padding: `paddingCount` random bytes, which no database can avoid to write.
    ///   - challenge: a fresh challenge; it is never valid.
    func beat(padding: [UInt8], challenge: Challenge) throws(DatabaseFault) {
        let isBeating =
            try store.change(
                """
                INSERT INTO heartbeat (id, beats, padding) VALUES (1, 1, $1)
                ON CONFLICT (id) DO UPDATE
                SET beats = heartbeat.beats + 1, padding = excluded.padding
                """, [.bytes(padding)]) == 1
        guard isBeating else { throw .broken("the heartbeat was not stored") }
        let nothing = ChallengeBinding(
            application: 0, account: "", device: .zero, action: .login)
        try store.challenges.keep(
            challenge: challenge, binding: nothing, issued: Moment(microseconds: 0), until: 0)
        guard
            try store.change("DELETE FROM challenge WHERE value = $1", [.id(challenge)]) == 1
        else { throw .broken("a challenge that was just stored is gone") }
        try store.run("SELECT id, event FROM audit ORDER BY id DESC LIMIT 1")
        try store.run("SELECT time FROM audit ORDER BY time DESC LIMIT 1")
    }
}
