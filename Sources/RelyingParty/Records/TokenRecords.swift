// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL

/// A token session, which began with one login; its refresh tokens form one chain.
struct TokenSession: Equatable, Sendable {
    let id: SessionID
    let registration: RegistrationID
    let factor: String
    let created: Int64
    /// When it ends, in seconds since 1970, by the policy at its beginning.
    let expires: Int64
    let isRevoked: Bool

    fileprivate init(_ row: Row) throws(DatabaseFault) {
        id = try row.id(0)
        registration = try row.id(1)
        factor = try row.text(2)
        created = try row.integer(3)
        expires = try row.integer(4)
        isRevoked = try row.optionalInteger(5) != nil
    }

    /// When it ends by the present policy, which may shorten a session but never extends it.
    func end(by policy: ApplicationPolicy) -> Int64 {
        min(expires, created + policy.refreshSeconds)
    }
}

/// The tables `token_session` and `refresh_token`; refresh tokens are stored only as digests.
struct TokenRows {
    let store: any Transaction
}

extension Transaction {
    var sessions: TokenRows { TokenRows(store: self) }
}

extension TokenRows {
    /// Stores a new token session.
    func keepSession(
        _ id: SessionID, registration: RegistrationID, factor: String, from origin: SessionOrigin,
        at now: Int64, until expires: Int64
    ) throws(DatabaseFault) {
        try store.add(
            """
            INSERT INTO token_session (id, registration, factor, created, expires, reason, address,
                agent)
            VALUES ($1, $2, $3, $4, $5, '', $6, $7)
            """,
            [
                .id(id), .id(registration), .text(factor), .integer(now),
                .integer(expires), .text(origin.address), .text(origin.agent),
            ])
    }

    func tokenSession(_ id: SessionID) throws(DatabaseFault) -> TokenSession? {
        let rows = try store.run(
            """
            SELECT id, registration, factor, created, expires, revoked FROM token_session
            WHERE id = $1
            """, [.id(id)])
        guard let row = rows.first else { return nil }
        return try TokenSession(row)
    }

    /// Stores the digest of a refresh token.
    func keepRefreshToken(
        _ hash: [UInt8], session: SessionID, at now: Int64, until expires: Int64
    ) throws(DatabaseFault) {
        try store.add(
            """
            INSERT INTO refresh_token (hash, session, created, expires) VALUES ($1, $2, $3, $4)
            """, [.bytes(hash), .id(session), .integer(now), .integer(expires)])
    }

    /// Uses up a refresh token and returns its session; nil if it is unknown, expired or already
    /// used.
    func useRefreshToken(_ hash: [UInt8], at now: Int64) throws(DatabaseFault) -> SessionID? {
        let rows = try store.run(
            """
            UPDATE refresh_token SET used = $1
            WHERE hash = $2 AND used IS NULL AND expires > $3 RETURNING session
            """, [.integer(now), .bytes(hash), .integer(now)])
        guard let row = rows.first else { return nil }
        return try row.id(0)
    }

    /// Returns a refresh token's session, and whether the token was used; nil if it is unknown.
    func refreshToken(
        _ hash: [UInt8]
    ) throws(DatabaseFault) -> (session: SessionID, isUsed: Bool)? {
        let rows = try store.run(
            "SELECT session, used FROM refresh_token WHERE hash = $1", [.bytes(hash)])
        guard let row = rows.first else { return nil }
        return (try row.id(0), try row.optionalInteger(1) != nil)
    }

    /// Ends a session; returns false if it was already ended.
    func revoke(
        session: SessionID, reason: String, at now: Int64
    ) throws(DatabaseFault) -> Bool {
        try !store.run(
            """
            UPDATE token_session SET revoked = $1, reason = $2
            WHERE id = $3 AND revoked IS NULL RETURNING id
            """, [.integer(now), .text(reason), .id(session)]
        ).isEmpty
    }

    /// Ends all sessions of a registration.
    func revokeSessions(
        ofRegistration registration: RegistrationID, reason: String, at now: Int64
    ) throws(DatabaseFault) {
        _ = try store.run(
            """
            UPDATE token_session SET revoked = $1, reason = $2
            WHERE registration = $3 AND revoked IS NULL
            """, [.integer(now), .text(reason), .id(registration)])
    }
}
