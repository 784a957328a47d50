// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import ServerAPI
import SignedFormats

// Requests authenticated with a MAC token, which proves that the device sent them, not a touch.
extension Requests {
    /// Verifies a MAC over a request and uses up its nonce.
    ///
    /// `application` is the back end that asks, whose devices alone are accepted; it is nil if the
    /// device calls this server itself. A wrong MAC is not counted as a failure, and a right one
    /// does not reset the count. With `isLeaving` the application's policy is not applied: a device
    /// may always end its own token.
    ///
    /// - Throws: `.refused` for an unknown token, one of another application, or a wrong MAC;
    ///   otherwise the reason for which a right MAC is refused, such as `.replayed`, `.clock` or
    ///   `.tokenRefused`.
    func acceptMAC(
        _ authorization: MACAuthorization, received: ReceivedRequest,
        for application: AskingApplication?, from origin: Origin, isLeaving: Bool
    ) async throws(Problem) -> Signer {
        guard let secret = try await secret(of: authorization.token),
            application.map({ $0.record.id == secret.application }) ?? true,
            try isMAC(authorization, of: received, by: secret)
        else {
            try await refuseRequest(
                .refused, detail: "MAC token: \(hexadecimal(authorization.token))",
                for: application,
                from: origin)
            throw .refused
        }
        macSecrets.keep(secret, of: authorization.token)
        let now = core.now
        do throws(Problem) {
            return try await core.write { store throws(DatabaseFault) in
                if let objection = try store.objection(to: application, at: now) {
                    return .failure(objection)
                }
                let result = try store.accept(
                    authorization, by: secret, at: now, isLeaving: isLeaving)
                if let problem = result.problem,
                    self.refusals.hasLine(for: application, isSigned: true, from: origin)
                {
                    try store.audit(
                        refusalOf: authorization.token, problem: problem, from: origin, at: now)
                }
                guard application != nil, let problem = result.problem else { return result }
                let owner = try store.macTokens.macToken(authorization.token)
                let isSame = owner.map { SealedMACSecret($0.token, of: $0.signer) == secret }
                return .failure(problem.telling(isSame == true ? owner?.signer : nil))
            }
        } catch {
            // The token is gone, or is not the one that the MAC was verified by.
            if error == .refused { macSecrets.forget(authorization.token) }
            throw error
        }
    }

    /// The secret that a token's MACs are verified by; nil if there is no such token.
    private func secret(of token: MACTokenID) async throws(Problem) -> SealedMACSecret? {
        if let secret = macSecrets.item(of: token) { return secret }
        return try await core.read { store throws(DatabaseFault) in
            try store.macTokens.macToken(token).map { SealedMACSecret($0.token, of: $0.signer) }
        }
    }

    /// Whether the MAC is that of this request under the token's secret, compared in constant time.
    func isMAC(
        _ authorization: MACAuthorization, of received: ReceivedRequest, by secret: SealedMACSecret
    ) throws(Problem) -> Bool {
        let text = MACText(
            audience: Audience(secret.audience), token: authorization.token,
            request: RequestLines(
                method: received.method, resource: received.resource,
                nonce: authorization.nonce, body: received.body),
            issued: authorization.issued)
        return try core.made { () throws(CryptoFault) in
            let key = try keys.tokenSeal.open(secret.sealed, row: authorization.token.bytes)
            return try HMAC.verifies(authorization.mac, of: text.encoded(), key: key)
        }
    }
}

extension Transaction {
    /// Runs the checks of a correct MAC that need the database, in the order of
    /// docs/developer/SERVER-INTEGRATE.md.
    ///
    /// The nonce is stored even if a later check refuses the request, so it cannot be sent again.
    /// `secret` is what the MAC was verified by; a token that has another one now is refused.
    fileprivate func accept(
        _ authorization: MACAuthorization, by secret: SealedMACSecret, at now: Int64,
        isLeaving: Bool
    ) throws(DatabaseFault) -> Result<Signer, Problem> {
        let isNow = isNow(authorization.issued, at: now)
        let use =
            isNow
            ? try requestCodes.use(
                authorization.nonce, ofMACBy: authorization.token, issued: authorization.issued)
            : CodeUse(
                isNew: true, isForgotten: false,
                signed: try macTokens.macToken(authorization.token))
        guard use.isNew else { return .failure(.replayed) }
        guard let (token, signer) = use.signed, SealedMACSecret(token, of: signer) == secret
        else { return .failure(.refused) }
        let objection =
            isLeaving
            ? signer.statusObjection : signer.objection(toFactor: AuthenticationFactor.possession)
        if let objection { return .failure(objection) }
        guard !token.isRevoked, token.expires > now else { return .failure(.tokenRefused) }
        guard isNow, !use.isForgotten else { return .failure(.clock) }
        try registrations.noteUse(of: signer.registration, at: now)
        return .success(signer)
    }

    /// Records a refusal, naming the registration's owner if the token exists.
    fileprivate func audit(
        refusalOf token: MACTokenID, problem: Problem, from origin: Origin, at now: Int64
    ) throws(DatabaseFault) {
        guard let signer = try macTokens.macToken(token)?.signer else {
            let detail = "MAC token: \(hexadecimal(token))"
            let entry = AuditEntry(event: .request, outcome: problem.code, detail: detail)
            return try auditTrail.note(entry, from: origin, at: now)
        }
        try auditTrail.note(
            entry(.request, signer: signer, problem: problem), from: origin, at: now)
    }
}
