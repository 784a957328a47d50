// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database

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

/// Sessions of tokens: begun, refreshed, ended, and looked at.
struct Tokens: Sendable {
    let issuer: String
    let keys: ServerKeys
    let core: ServerCore
}

extension Tokens {
    /// Random ids, and a refresh token, before the transaction that keeps them.
    func freshTokens() throws(Problem) -> FreshTokens {
        let refresh = try core.made { () throws(CryptoFault) in
            try BearerSecret.refreshToken.generate()
        }
        let ids = try core.random(32)
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

extension Transaction {
    /// Keeps what a login begins.
    func beginSession(
        _ fresh: FreshTokens, of signer: Signer, factor: String, at now: Int64
    ) throws(DatabaseFault) {
        let expires = now + signer.application.policy.refreshSeconds
        try sessions.keepSession(
            fresh.session, registration: signer.registration.id, factor: factor, at: now,
            until: expires)
        try sessions.keepRefreshToken(
            fresh.refreshHash, session: fresh.session, at: now, until: expires)
    }
}
