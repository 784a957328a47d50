// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database
import SignedFormats

/// The secrets of a session that is yet to begin.
struct FreshTokens: Sendable {
    /// 16 bytes.
    var session: [UInt8]
    /// The token's own id, 16 bytes.
    let id: [UInt8]
    /// As it is handed out.
    let refreshToken: String
    /// As it is kept.
    let refreshHash: [UInt8]

    /// The same for a session that goes on.
    func of(_ session: [UInt8]) -> FreshTokens {
        var fresh = self
        fresh.session = session
        return fresh
    }
}

// Access tokens are JWTs (RFC 7519) of ES256; a refresh token is good once, and one that comes a
// second time ends its whole session (RFC 9700, section 4.14).
extension Service {
    /// Random ids, and a refresh token, before the transaction that keeps them.
    func freshTokens() throws(Problem) -> FreshTokens {
        let refresh = try made { () throws(CryptoFault) in
            try BearerSecret.refreshToken.generate()
        }
        let ids = try random(32)
        return FreshTokens(
            session: [UInt8](ids[..<16]), id: [UInt8](ids[16...]),
            refreshToken: String(decoding: refresh.text, as: UTF8.self),
            refreshHash: refresh.digest)
    }

    /// The pair as it is handed out, when the session is durable; the access token does not
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

/// What an access token says.
struct AccessClaims: Codable, Sendable {
    let iss: String
    let sub: String
    let aud: String
    let iat: Int64
    let exp: Int64
    let jti: String
    /// The session of tokens.
    let sid: String
    /// The registration.
    let reg: String
    let amr: [String]
    let roles: [String]
    let flags: [String]
}

extension Transaction {
    /// Keeps what a login begins.
    func beginSession(
        _ fresh: FreshTokens, of signer: Signer, factor: String, at now: Int64
    ) throws(DatabaseFault) {
        let expires = now + signer.application.policy.refreshSeconds
        try keepSession(
            fresh.session, registration: signer.registration.id, factor: factor, at: now,
            until: expires)
        try keepRefreshToken(
            fresh.refreshHash, session: fresh.session, at: now, until: expires)
    }
}
