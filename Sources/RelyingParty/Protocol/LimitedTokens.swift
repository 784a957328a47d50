// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import ServerAPI
import SignedFormats

// The items of calls that present a token or a request code: see `LimitedItem`.

extension Tokens {
    /// The refresh token of a request; nil unless the server has issued it.
    ///
    /// A token that was used is one too: presented again, it must end its session.
    func item(ofRefresh fields: RefreshRequest) async throws(Problem) -> LimitedItem? {
        guard let hash = try refreshHash(fields.refreshToken) else { return nil }
        let isKnown = try await core.read { store throws(DatabaseFault) in
            try store.sessions.refreshToken(hash) != nil
        }
        return isKnown ? .refreshToken(hash) : nil
    }

    /// The session that a request would revoke; nil if there is none.
    func item(ofRevocation fields: TokenRequest) async throws(Problem) -> LimitedItem? {
        try await revocableSession(fields.token).map { .session($0) }
    }
}

extension Requests {
    /// The credential or MAC token of a device's own call; nil unless its code is right, timely
    /// and new.
    ///
    /// Whether the key or the token is still valid is not checked: the call itself says so.
    func item(
        of received: ReceivedRequest, authorization header: [UInt8]
    ) async throws(Problem) -> LimitedItem? {
        guard let proof = try? RequestProof(header: header) else { return nil }
        switch proof {
        case .signature(let authorization):
            return try await item(ofSigned: authorization, received: received)
        case .mac(let authorization):
            return try await item(ofMAC: authorization, received: received)
        }
    }

    private func item(
        ofSigned authorization: SignetAuthorization, received: ReceivedRequest
    ) async throws(Problem) -> LimitedItem? {
        guard
            let signed = try? UnverifiedStatement<RequestStatement>(
                parsing: authorization.statement, signature: authorization.signature),
            received.isMeant(by: signed.content.request)
        else { return nil }
        let statement = signed.content
        let now = core.now
        let signer = try await core.read { store throws(DatabaseFault) -> Signer? in
            guard store.isNow(statement.claims.issued, at: now),
                let signer = try store.signers.signer(statement.head),
                try !store.nonces.isUsed(
                    statement.request.nonce, of: statement.head.credential,
                    issued: statement.claims.issued)
            else { return nil }
            return signer
        }
        guard let signer,
            signatures.verified(signed, in: .request, by: signer, for: .fingerprint) != nil
        else { return nil }
        return .credential(statement.head.credential)
    }

    private func item(
        ofMAC authorization: MACAuthorization, received: ReceivedRequest
    ) async throws(Problem) -> LimitedItem? {
        let now = core.now
        let found = try await core.read {
            store throws(DatabaseFault) -> (token: MACTokenRecord, signer: Signer)? in
            guard store.isNow(authorization.issued, at: now),
                let found = try store.macTokens.macToken(authorization.token),
                try !store.nonces.isUsed(
                    authorization.nonce, of: authorization.token, issued: authorization.issued)
            else { return nil }
            return found
        }
        guard let found,
            try isMAC(
                authorization, of: received, by: SealedMACSecret(found.token, of: found.signer))
        else { return nil }
        return .macToken(authorization.token)
    }
}
