// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import JSONFormat
import SQL
import ServerAPI

/// The random values of a new pair of tokens, made before the transaction that stores them.
struct FreshTokens: Sendable {
    /// The session's id.
    var session: SessionID
    /// The id of the access token, 16 bytes.
    let id: [UInt8]
    /// The refresh token as it is given to the client.
    let refreshToken: String
    /// The refresh token's digest, which is what the database stores.
    let refreshHash: [UInt8]

    /// Returns these values for an existing session.
    func of(_ session: SessionID) -> FreshTokens {
        var fresh = self
        fresh.session = session
        return fresh
    }
}

/// Token sessions, which begin with a login, and their access and refresh tokens.
///
/// A session has one chain of refresh tokens, of which only the last is valid. Access tokens are
/// signed JSON Web Tokens that never outlive the session.
struct Tokens: Sendable {
    let issuer: String
    let keys: ServerSigningKeys
    let core: ServerCore
}

extension Tokens {
    /// Generates the ids and the refresh token, before the transaction that stores them.
    func freshTokens() throws(Problem) -> FreshTokens {
        let refresh = try core.made { () throws(CryptoFault) in
            try BearerSecret.refreshToken.generate()
        }
        return FreshTokens(
            session: try core.random(), id: try core.random(16),
            refreshToken: String(decoding: refresh.text, as: UTF8.self),
            refreshHash: refresh.digest)
    }

    /// Makes the pair of tokens for the client, once the session has been committed.
    ///
    /// `methods` are the authentication methods of the login (RFC 8176). `end` is when the session
    /// ends, in seconds since 1970; nil for a session that begins now. The access token does not
    /// outlive it.
    func pair(
        _ fresh: FreshTokens, of signer: Signer, methods: [String], at now: Int64,
        until end: Int64? = nil
    ) throws(Problem) -> TokenPair {
        let policy = signer.application.policy
        let seconds = min(policy.accessSeconds, (end ?? now + policy.refreshSeconds) - now)
        let claims = AccessClaims(
            iss: issuer, sub: signer.account.name, aud: signer.application.audience,
            iat: now, exp: now + seconds, jti: hexadecimal(fresh.id),
            sid: hexadecimal(fresh.session), reg: hexadecimal(signer.registration.id),
            amr: methods, roles: signer.account.roles, flags: signer.flags)
        return TokenPair(
            accessToken: try keys.signToken(JSON.encode(plain: claims)), tokenType: "Bearer",
            expiresIn: seconds, refreshToken: fresh.refreshToken)
    }
}

extension Transaction {
    /// Stores a new session with its first refresh token; both end after the policy's
    /// `refreshSeconds`.
    func beginSession(
        _ fresh: FreshTokens, of signer: Signer, factor: String, from origin: SessionOrigin,
        at now: Int64
    ) throws(DatabaseFault) {
        let expires = now + signer.application.policy.refreshSeconds
        try sessions.keepSession(
            fresh.session, registration: signer.registration.id, factor: factor,
            from: origin, at: now, until: expires)
        try sessions.keepRefreshToken(
            fresh.refreshHash, session: fresh.session, at: now, until: expires)
    }
}
