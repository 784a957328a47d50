// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI

/// Where a login came from, as it is stored with its session.
struct SessionOrigin: Equatable, Sendable {
    /// The address; empty if it is not known.
    let address: String
    /// The user agent; empty if it is not known.
    let agent: String
}

/// A session of an account that has not ended, with what is known of its device.
struct AccountSession: Equatable, Sendable {
    let id: SessionID
    let registration: RegistrationID
    let device: DeviceID
    /// What the device calls itself; nil if it has given no name.
    let deviceName: DeviceName?
    /// A word of `Factor`.
    let factor: String
    let created: Int64
    /// When it ends, by the policy at its beginning.
    let expires: Int64
    let origin: SessionOrigin
    /// When a refresh token of it was last used; nil if none was.
    let refreshed: Int64?

    fileprivate init(_ row: Row) throws(DatabaseFault) {
        id = try row.id(0)
        registration = try row.id(1)
        device = try row.id(2)
        deviceName = DeviceName([UInt8](try row.text(3).utf8))
        factor = try row.text(4)
        created = try row.integer(5)
        expires = try row.integer(6)
        origin = SessionOrigin(address: try row.text(7), agent: try row.text(8))
        refreshed = try row.optionalInteger(9)
    }
}

/// Which sessions of an account count as not ended, at a moment.
struct LiveSessions: Sendable {
    let account: Int64
    /// Sessions that end by this time are over.
    let now: Int64
    /// Sessions that began by this time are over, by the present policy.
    let cutOff: Int64

    /// The sessions of an account whose application has this policy.
    init(of account: AccountRecord, policy: ApplicationPolicy, at now: Int64) {
        self.account = account.id
        self.now = now
        cutOff = now - policy.refreshSeconds
    }

    fileprivate var values: [Value] { [.integer(account), .integer(now), .integer(cutOff)] }
}

// The sessions of all devices of an account.
extension TokenRows {
    /// The newest sessions of an account that have not ended, newest first, with a resolution of
    /// one second.
    func list(_ live: LiveSessions, most: Int64) throws(DatabaseFault) -> [AccountSession] {
        try store.run(
            """
            SELECT s.id, s.registration, r.device, r.name, s.factor, s.created, s.expires,
                s.address, s.agent,
                (SELECT MAX(t.used) FROM refresh_token t WHERE t.session = s.id)
            FROM token_session s JOIN registration r ON r.id = s.registration
            WHERE r.account = $1 AND s.revoked IS NULL AND s.expires > $2 AND s.created > $3
            ORDER BY s.created DESC, s.id LIMIT $4
            """, live.values + [.integer(most)]
        ).map { (row) throws(DatabaseFault) in try AccountSession(row) }
    }

    /// How many sessions of an account have not ended.
    func count(_ live: LiveSessions) throws(DatabaseFault) -> Int64 {
        let rows = try store.run(
            """
            SELECT CAST(COUNT(*) AS BIGINT)
            FROM token_session s JOIN registration r ON r.id = s.registration
            WHERE r.account = $1 AND s.revoked IS NULL AND s.expires > $2 AND s.created > $3
            """, live.values)
        guard let row = rows.first else { return 0 }
        return try row.integer(0)
    }

    /// Ends all sessions of an account, and returns how many had not ended before.
    ///
    /// Those that only the present policy ends count, too: a later policy could revive them.
    func revokeSessions(
        ofAccount account: Int64, reason: String, at now: Int64
    ) throws(DatabaseFault) -> Int64 {
        let ended = try store.run(
            """
            UPDATE token_session SET revoked = $1, reason = $2
            WHERE revoked IS NULL AND expires > $1
                AND registration IN (SELECT id FROM registration WHERE account = $3)
            RETURNING id
            """, [.integer(now), .text(reason), .integer(account)])
        return Int64(ended.count)
    }
}
