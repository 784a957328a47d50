// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import JSONFormat
import SQL
import ServerAPI
import SignedFormats

// How tokens are refreshed, revoked and introspected.
//
// A refresh token is valid once. If it is used a second time, the whole session ends (RFC 9700,
// section 4.14), because the server cannot tell which of the two holders is legitimate.
extension Tokens {
    /// `POST /v1/token/refresh`: exchanges a refresh token for the session's next pair of tokens.
    ///
    /// Possession of the refresh token suffices. The token is used up even if the policy, the
    /// registration or the account then rules out the session. The new tokens do not extend the
    /// session.
    ///
    /// - Throws: `.tokenRefused` for a token that is unknown, used or expired, and for a session
    ///   that has ended or may not continue.
    func refreshTokens(_ call: Call) async throws(Problem) -> TokenPair {
        let fields = try call.body(RefreshRequest.self)
        guard let hash = try refreshHash(fields.refreshToken) else { throw .tokenRefused }
        let fresh = try freshTokens()
        let now = core.now
        let (signer, session) = try await core.write { store throws(DatabaseFault) in
            let (result, signer) = try store.rotate(hash, to: fresh, at: now)
            try store.auditTrail.note(
                refreshEntry(result.problem, signer: signer), from: call.origin, at: now)
            return result
        }
        return try pair(
            fresh.of(session.id), of: signer, methods: signer.methods(ofFactor: session.factor),
            at: now,
            until: session.end(by: signer.application.policy))
    }

    /// `POST /v1/token/revoke`: ends the session of an access or refresh token.
    ///
    /// Possession of the token suffices. As in RFC 7009, an unknown token is not an error; the
    /// result is then false. It is also false if the session was already revoked. An expired access
    /// token still ends its session. A write transaction, which holds up other writers, is begun
    /// only for a session that is not yet revoked.
    func revokeTokens(_ call: Call) async throws(Problem) -> Bool {
        let fields = try call.body(TokenRequest.self)
        guard let id = try await revocableSession(fields.token) else { return false }
        let now = core.now
        return try await core.write { store throws(DatabaseFault) in
            guard let session = try store.sessions.tokenSession(id),
                let signer = try store.signers.signer(registration: session.registration),
                try store.sessions.revoke(session: id, reason: SessionEnd.revoked, at: now)
            else { return .success(false) }
            try store.auditTrail.note(
                entry(.revocation, signer: signer, problem: nil), from: call.origin, at: now)
            return .success(true)
        }
    }

    /// The session of an access or refresh token, unless it was revoked; nil if there is none.
    func revocableSession(_ token: String) async throws(Problem) -> SessionID? {
        let hash = try refreshHash(token)
        let named =
            hash == nil ? try await accessClaims(token).flatMap { SessionID(text: $0.sid) } : nil
        guard hash != nil || named != nil else { return nil }
        return try await core.read { store throws(DatabaseFault) -> SessionID? in
            var id = named
            if let hash { id = try store.sessions.refreshToken(hash)?.session }
            guard let id, try store.sessions.tokenSession(id)?.isRevoked == false else {
                return nil
            }
            return id
        }
    }

    /// `POST /v1/token/introspect`: whether an access token for the caller is valid now (RFC 7662).
    ///
    /// The answer is `.inactive`, without a reason, unless this server's keys signed the token, it
    /// was issued to the calling application, it has not expired, and its session may continue by
    /// the present policy, registration and account. The roles and flags returned are the present
    /// ones.
    func introspect(_ call: Call) async throws(Problem) -> IntrospectionAnswer {
        let fields = try call.body(TokenRequest.self)
        let application = try call.caller()
        let now = core.now
        guard let claims = try await accessClaims(fields.token), claims.aud == application.audience,
            claims.exp > now, claims.iat <= now + RequestWindow.seconds,
            let id = SessionID(text: claims.sid)
        else { return .inactive }
        return try await core.read { store throws(DatabaseFault) in
            guard let session = try store.sessions.tokenSession(id),
                let signer = try store.signers.signer(registration: session.registration),
                signer.application.id == application.id, signer.holds(session, at: now)
            else { return .inactive }
            return IntrospectionAnswer(claims, signer: signer)
        }
    }

    /// `GET /.well-known/jwks.json`: the public keys that verify access tokens, as in RFC 7517.
    func publicKeys() -> [UInt8] {
        var body = [UInt8](#"{"keys":["#.utf8)
        for (index, key) in keys.verifying.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += key.json
        }
        return body + [UInt8]("]}".utf8)
    }

    /// The claims of an access token that one of this server's keys signed; nil if none did.
    ///
    /// The signature is all that is checked; expiry, audience and session are up to the caller. A
    /// fault of the server is thrown as `.unavailable`, because it says nothing about the token.
    private func accessClaims(_ token: String) async throws(Problem) -> AccessClaims? {
        guard let payload = try await signedPayload([UInt8](token.utf8)) else { return nil }
        return try? JSON.decode(AccessClaims.self, from: payload)
    }

    private func signedPayload(_ token: [UInt8]) async throws(Problem) -> [UInt8]? {
        var outcome = verified(token)
        if case .failure(.unknownHeader) = outcome {
            // Another server on the same database may have signed it with a new key.
            do throws(KeyFault) {
                try await keys.refreshForUnknown(at: core.now)
            } catch {
                report("the keys could not be reloaded: \(error)")
                throw .unavailable
            }
            outcome = verified(token)
        }
        switch outcome {
        case .success(let payload): return payload
        case .failure(.crypto(let fault)):
            report("cryptography failed: \(fault)")
            throw .unavailable
        case .failure(.tooLong), .failure(.malformed), .failure(.unknownHeader),
            .failure(.badSignature):
            return nil
        }
    }

    private func verified(_ token: [UInt8]) -> Result<[UInt8], TokenFault> {
        do throws(TokenFault) {
            return .success(try JSONWebToken.verify(token, keys: keys.verifying))
        } catch { return .failure(error) }
    }

    func refreshHash(_ token: String) throws(Problem) -> [UInt8]? {
        try core.made { () throws(CryptoFault) in
            try BearerSecret.refreshToken.digest(of: [UInt8](token.utf8))
        }
    }
}

/// Why a token session was ended, as stored with it.
enum SessionEnd {
    /// A refresh token was used a second time.
    static let reuse = "reuse"
    /// Someone who held one of its tokens revoked it.
    static let revoked = "revoked"
    /// A device of the account ended it.
    static let device = "ended"
}

private func refreshEntry(_ problem: Problem?, signer: Signer?) -> AuditEntry {
    guard let signer else {
        return AuditEntry(event: .refresh, outcome: problem?.code ?? "ok")
    }
    return entry(.refresh, signer: signer, problem: problem)
}

extension Transaction {
    /// Uses up a refresh token and stores its successor; returns the signer even if refused.
    ///
    /// The token stays used if a later check refuses it. The session is read behind the account's
    /// lock, so a block that is committed first ends it.
    fileprivate func rotate(
        _ hash: [UInt8], to fresh: FreshTokens, at now: Int64
    ) throws(DatabaseFault) -> (Result<(Signer, TokenSession), Problem>, Signer?) {
        guard let id = try sessions.useRefreshToken(hash, at: now) else {
            return (.failure(.tokenRefused), try endReused(hash, at: now))
        }
        guard let found = try sessions.tokenSession(id),
            let former = try signers.signer(registration: found.registration)
        else { return (.failure(.tokenRefused), nil) }
        // Read again behind the lock that blocking also takes.
        try accounts.lockAccount(former.account.id)
        guard let session = try sessions.tokenSession(id),
            let signer = try signers.signer(registration: session.registration)
        else { return (.failure(.tokenRefused), nil) }
        guard signer.holds(session, at: now) else { return (.failure(.tokenRefused), signer) }
        try sessions.keepRefreshToken(
            fresh.refreshHash, session: id, at: now,
            until: session.end(by: signer.application.policy))
        return (.success((signer, session)), signer)
    }

    /// Ends the session of a refresh token that was used before, and returns the session's signer.
    ///
    /// The token was presented twice, so there is a copy of it. Returns nil for an unknown token.
    private func endReused(_ hash: [UInt8], at now: Int64) throws(DatabaseFault) -> Signer? {
        guard let token = try sessions.refreshToken(hash),
            let session = try sessions.tokenSession(token.session)
        else { return nil }
        if token.isUsed {
            _ = try sessions.revoke(session: token.session, reason: SessionEnd.reuse, at: now)
        }
        return try signers.signer(registration: session.registration)
    }
}
