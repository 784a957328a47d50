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
        let found = try await core.read { store throws(DatabaseFault) in
            try store.macTokens.macToken(authorization.token)
        }
        guard let (token, signer) = found,
            application.map({ $0.record.id == signer.application.id }) ?? true,
            try isMAC(authorization, of: received, by: token, signer: signer)
        else {
            try await refuseRequest(
                .refused, detail: "MAC token: \(hexadecimal(authorization.token))",
                for: application,
                from: origin)
            throw .refused
        }
        let now = core.now
        return try await core.write { store throws(DatabaseFault) in
            if let objection = try store.objection(to: application, at: now) {
                return .failure(objection)
            }
            let result = try store.accept(authorization, at: now, isLeaving: isLeaving)
            if let problem = result.problem,
                self.refusals.hasLine(for: application, isSigned: true, from: origin)
            {
                try store.auditTrail.note(
                    entry(.request, signer: signer, problem: problem), from: origin, at: now)
            }
            return result
        }
    }

    /// Whether the MAC is that of this request under the token's secret, compared in constant time.
    func isMAC(
        _ authorization: MACAuthorization, of received: ReceivedRequest, by token: MACTokenRecord,
        signer: Signer
    ) throws(Problem) -> Bool {
        let text = MACText(
            audience: Audience(signer.application.audience), token: authorization.token,
            request: RequestLines(
                method: received.method, resource: received.resource,
                nonce: authorization.nonce, body: received.body),
            issued: authorization.issued)
        return try core.made { () throws(CryptoFault) in
            let secret = try keys.tokenSeal.open(token.sealed, row: token.id.bytes)
            return try HMAC.verifies(authorization.mac, of: text.encoded(), key: secret)
        }
    }
}

extension Transaction {
    /// Runs the checks of a correct MAC that need the database, in the order of
    /// docs/developer/SERVER-INTEGRATE.md.
    ///
    /// The nonce is stored even if a later check refuses the request, so it cannot be sent again.
    fileprivate func accept(
        _ authorization: MACAuthorization, at now: Int64, isLeaving: Bool
    ) throws(DatabaseFault) -> Result<Signer, Problem> {
        let isNow = isNow(authorization.issued, at: now)
        if isNow {
            let isNew = try nonces.keepNonce(
                authorization.nonce, of: authorization.token, issued: authorization.issued)
            guard isNew else { return .failure(.replayed) }
        }
        // Read again: the token may have been revoked in the meantime.
        guard let (token, signer) = try macTokens.macToken(authorization.token) else {
            return .failure(.refused)
        }
        let objection =
            isLeaving ? signer.statusObjection : signer.objection(toFactor: Factor.possession)
        if let objection { return .failure(objection) }
        guard !token.isRevoked, token.expires > now else { return .failure(.tokenRefused) }
        guard isNow, try !nonces.isForgotten(issued: authorization.issued) else {
            return .failure(.clock)
        }
        try registrations.noteUse(of: signer.registration, at: now)
        return .success(signer)
    }
}
