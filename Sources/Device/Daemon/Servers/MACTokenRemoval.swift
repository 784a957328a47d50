// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Crypto
import Domain
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State

// To end a MAC token, its server is told first, in a request that the token itself authenticates;
// then the token is deleted here. If the server cannot be reached, it is told later. Until then,
// the token is stored, but it is usable for nothing else.
extension DeviceMACTokens {
    /// Ends a MAC token, without a touch; `state` of the answer says whether its server knows.
    ///
    /// Throws `unknownMacToken` if there is no good token of this name, or its record was altered.
    func removeMACToken(
        _ request: MACTokenRemoveRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        // Removals are finished in the background; the client does not wait for them.
        defer { removals.want() }
        let (server, name) = (request.server, request.name)
        return try await accounts.answering(account) {
            let named = try accounts.kept(account)?.macTokens.list().filter {
                $0.server == server && $0.name == name && $0.state == .good
            }
            guard let named, !named.isEmpty, let kept = try accounts.kept(account) else {
                throw Denial(.unknownMacToken, subject: name)
            }
            client.tell(asking: server)
            do throws(StoreFault) {
                var isTold = true
                for token in named {
                    if try await !end(token, account: account, kept: kept) { isTold = false }
                }
                return .done(
                    DoneAnswer(state: isTold ? CredentialState.none : .disabled))
            } catch {
                guard error == .vault(.doesNotOpen) else { throw error }
                throw Denial(.unknownMacToken, subject: name)
            }
        }
    }

    /// Tells servers about the account's tokens that were ended while the servers could not be
    /// reached.
    ///
    /// Returns whether all servers know now; stops at the first that cannot be told.
    func finishTokenRemovals(of account: Account) async -> Bool {
        guard let kept = try? accounts.kept(account) else { return true }
        let tokens = ((try? kept.macTokens.list()) ?? []).filter { $0.state == .removing }
        for token in tokens.shuffled() {
            do throws(StoreFault) {
                if try await !end(token, account: account, kept: kept) { return false }
            } catch {
                journal.fault(error.description, account: account.name)
                return false
            }
        }
        return true
    }

    /// Ends one token, and returns whether nothing is left to do; the token is deleted then.
    ///
    /// That is so if the server has ended the token or no longer accepts it, if the request cannot
    /// be made, or if the token is given up (`isGivenUp`). Throws `.vault(.doesNotOpen)` for a
    /// token whose record was altered, which is deleted as well.
    private func end(
        _ token: StoredMACToken, account: Account, kept: AccountState
    ) async throws(StoreFault) -> Bool {
        let tokens = kept.macTokens
        let marked: StoredMACToken
        let relayRequest: RelayRequest?
        do throws(StoreFault) {
            marked = token.state == .removing ? token : try tokens.beginRemoval(token)
            relayRequest = try ending(marked, in: tokens)
        } catch {
            guard error == .vault(.doesNotOpen) else { throw error }
            try forgetAltered(token, in: tokens, account: account)
            throw error
        }
        guard let relayRequest else {
            try tokens.remove(marked)
            return true
        }
        switch await relay.ask(relayRequest, for: account.uid) {
        // By the server's clock, the token may remain valid for a long time.
        case .refused(let code, _, _) where code == Bytes("clock".utf8): return false
        case .refused(let code, _, _) where !Self.isFinal(token: code):
            return try isGivenUp(marked, account: account, tokens: tokens)
        case .removed, .refused:
            try tokens.remove(marked)
            return true
        case .unreachable, .registered, .proven, .challenge, .loggedIn, .macToken, .awaited,
            .listed, .operation, .decided, .requirements, .attestation, .session,
            .sessionsListed, .sessionsEnded:
            return try isGivenUp(marked, account: account, tokens: tokens)
        }
    }

    /// Whether telling the server is no longer necessary, because the token has expired by itself.
    ///
    /// The local clock may be wrong, so a single failure after the expiry is not enough: the token
    /// is deleted, and this logged, only after several failures; see `MACTokenStore.wasVain`.
    private func isGivenUp(
        _ token: StoredMACToken, account: Account, tokens: MACTokenStore
    ) throws(StoreFault) -> Bool {
        guard token.expires <= accounts.instant, try tokens.wasVain(token, at: accounts.instant)
        else { return false }
        journal.fault(
            "a MAC token has expired, and its server could not be notified that it was removed",
            account: account.name)
        return true
    }

    /// Whether a server's refusal means that it no longer accepts this token at all.
    private static func isFinal(token code: [UInt8]) -> Bool {
        let codes = [
            "token-refused", "key-removed", "key-replaced", "refused", "not-found", "conflict",
        ]
        return codes.contains(String(decoding: code, as: UTF8.self))
    }

    /// The request that ends a token at its server, authenticated with the token; nil if it cannot
    /// be made.
    private func ending(
        _ token: StoredMACToken, in tokens: MACTokenStore
    ) throws(StoreFault) -> RelayRequest? {
        guard let url = CanonicalServerURL(token.server) else { return nil }
        let digest: Bytes
        do throws(CryptoFault) { digest = try SHA256.digest(RelayRequest.emptyBody) } catch {
            throw .vault(.crypto(error))
        }
        let digits = String(decoding: token.identifier.hexadecimal, as: UTF8.self)
        let path = "\(url.path)/v1/device/mac-tokens/\(digits)/revoke"
        let header = try header(
            by: token, in: tokens, method: Bytes("POST".utf8), resource: Bytes(path.utf8),
            bodyDigest: digest)
        return header.map {
            .endMACToken(server: ServerURL(url), authorization: $0, token: token.identifier)
        }
    }
}
