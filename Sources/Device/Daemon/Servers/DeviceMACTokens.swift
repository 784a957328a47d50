// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Crypto
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import Sealing
import SignedFormats
import State

/// MAC tokens: obtained from a server after a touch, they authenticate HTTP requests without one.
///
/// A token's secret is opened here for each request and never leaves the process; clients get
/// only the finished `Authorization` header. A token depends on the key for which it was issued,
/// and ends with that key. The header proves possession of this device, and not that a user is
/// present.
@ServiceActor
final class DeviceMACTokens {
    let clock: Clock
    let journal: DecisionJournal
    let relay: RelayClient
    let removals: RemovalRounds
    let accounts: Accounts
    let keys: ServerKeys
    let guards: TouchGuards
    let touches: Touches

    init(
        clock: Clock, journal: DecisionJournal, relay: RelayClient, removals: RemovalRounds,
        accounts: Accounts, keys: ServerKeys, guards: TouchGuards,
        touches: Touches
    ) {
        self.clock = clock
        self.journal = journal
        self.relay = relay
        self.removals = removals
        self.accounts = accounts
        self.keys = keys
        self.guards = guards
        self.touches = touches
    }
}

extension DeviceMACTokens {
    var handlers: [RequestHandler] {
        [
            RequestHandler(addMACToken), RequestHandler(listMACTokens),
            RequestHandler(removeMACToken), RequestHandler(macHeader),
        ]
    }

    /// Obtains a MAC token from a server after a touch, replacing the key's other token of this
    /// name.
    ///
    /// Throws `badRequest` for an unsuitable name, `tooManyMacTokens`, and the denials of the touch
    /// and of the server.
    func addMACToken(
        _ request: MACTokenAddRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        guard let url = CanonicalServerURL(request.server), SecretName.fault(request.name) == nil,
            request.name != MACTokenName.operations
        else { throw Denial(.badRequest) }
        let key = try await keys.goodKey(for: url, account: account)
        try checkRoom(for: request.name, of: key, account: account)
        let challenge = try await keys.challenge(
            for: key, by: .finger, action: LoginAction.macToken, url: url, account: account)
        let matter = SignedMatter(
            purpose: request.context.purpose, challenge: challenge)
        let plan = guards.plan(
            for: MACTokenAddRequest.self, account: account,
            milliseconds: request.timeoutMilliseconds)
        return try await touches.afterTouch(plan, matter: matter, client: client) {
            (snapshot, touch) throws(Denial) in
            let token = try await self.issueMACToken(
                request.name, challenge: challenge, by: key, url: url, account: account,
                snapshot: snapshot, confirmation: .finger(touch), client: client)
            await client.send(.macToken(MACTokenAnswer(token)))
            return .done(DoneAnswer())
        }
    }

    /// Signs a server's challenge for a token and stores the token that the server issues.
    ///
    /// The token's name is part of the signed statement. Needs the evidence that the user has
    /// allowed this use of the key.
    func issueMACToken(
        _ name: Bytes, challenge: Challenge, by key: ServerKey, url: CanonicalServerURL,
        account: Account, snapshot: AccountSnapshot, confirmation: Confirmation,
        client: any Client
    ) async throws(Denial) -> StoredMACToken {
        let answer = try await keys.serverHears(
            of: key, account: account, kept: snapshot.kept, telling: client
        ) { (snapshot) throws(Denial) in
            try await keys.signed(
                by: key, in: .login, account: account, snapshot: snapshot, for: confirmation
            ) {
                (key) throws(CryptoFault) in
                var statement = keys.statement(
                    challenge, action: LoginAction.macToken, factor: confirmation.factor, key: key,
                    enrolment: snapshot.enrolment)
                statement.purpose = name
                return try SignedMessage(text: statement.encoded())
            }
        } _: { signed in
            .macToken(
                server: ServerURL(url), statement: signed.statement ?? [],
                signature: signed.signature)
        }
        guard case .macToken(let given) = answer else {
            throw keys.denial(of: answer, url: url, account: account, signedBy: key)
        }
        return try keep(given, name: name, of: key, account: account)
    }

    /// Sends the account's MAC tokens whose key is valid.
    ///
    /// Changes nothing.
    func listMACTokens(
        _: MACTokenListRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        for token in try await shownTokens(of: account) {
            await client.send(.macToken(MACTokenAnswer(token)))
        }
        return .done(DoneAnswer())
    }

    /// Makes the `Authorization` header of one HTTP request, without a touch.
    ///
    /// `bodyDigest` in the request is SHA-256 of the body. Throws `unknownMacToken` if there is no
    /// good token of this name, and `badRequest` if the request is not in canonical form.
    func macHeader(
        _ request: MACTokenHeaderRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        guard let url = CanonicalServerURL(request.server) else { throw Denial(.badRequest) }
        let key = try await keys.goodKey(for: url, account: account)
        // With a header of that token, a client could read operations in the daemon's place.
        guard request.name != MACTokenName.operations,
            let header = try header(
                by: request.name, of: key, method: request.method, resource: request.resource,
                bodyDigest: request.bodyDigest,
                account: account)
        else { throw Denial(.unknownMacToken, subject: request.name) }
        return .authorization(header)
    }

    /// A header made with the key's token of this name; nil if there is no good, unexpired token.
    ///
    /// A token whose record was altered is deleted and logged. Throws `badRequest` if method or
    /// resource is not in canonical form.
    func header(
        by name: Bytes, of key: ServerKey, method: Bytes, resource: Bytes,
        bodyDigest: Bytes, account: Account
    ) throws(Denial) -> Bytes? {
        try accounts.reading(account) {
            guard let tokens = try accounts.kept(account)?.macTokens,
                let token = try tokens.list().first(where: {
                    $0.credential == key.identifier && $0.name == name && $0.state == .good
                }), token.expires > accounts.instant
            else { return nil }
            let header: Bytes?
            do throws(StoreFault) {
                header = try self.header(
                    by: token, in: tokens, method: method, resource: resource,
                    bodyDigest: bodyDigest)
            } catch {
                guard error == .vault(.doesNotOpen) else { throw error }
                try forgetAltered(token, in: tokens, account: account)
                return nil
            }
            guard let header else { throw Denial(.badRequest) }
            return header
        }
    }

    /// A header made with this token, with a fresh nonce and the present time; nil if the request
    /// is not in canonical form.
    ///
    /// Throws `.vault(.doesNotOpen)` if the token's record was altered.
    func header(
        by token: StoredMACToken, in tokens: MACTokenStore, method: Bytes, resource: Bytes,
        bodyDigest: Bytes
    ) throws(StoreFault) -> Bytes? {
        let secret = try tokens.secret(of: token)
        let nonce: Bytes
        do throws(SystemFault) { nonce = try randomBytes(32) } catch {
            throw .file(.system(error))
        }
        let text = MACText(
            audience: token.audience, token: token.identifier,
            request: RequestLines(
                method: method, resource: resource, nonce: nonce, body: bodyDigest),
            issued: accounts.instant)
        guard (try? MACText(parsing: text.encoded())) == text else { return nil }
        let code: Bytes
        do throws(CryptoFault) {
            code = try HMAC.sha256(of: text.encoded(), key: secret)
        } catch { throw .vault(.crypto(error)) }
        return MACAuthorization(
            token: token.identifier, nonce: nonce, issued: text.issued, mac: code
        ).header
    }

    /// Deletes and logs a token whose record was altered; it can no longer prove anything.
    func forgetAltered(
        _ token: StoredMACToken, in tokens: MACTokenStore, account: Account
    ) throws(StoreFault) {
        journal.fault("a MAC token was altered", account: account.name)
        try tokens.remove(token)
    }
}

extension DeviceMACTokens {
    /// The account's tokens whose key exists and is valid.
    ///
    /// Changes nothing.
    private func shownTokens(of account: Account) async throws(Denial) -> [StoredMACToken] {
        let good = try await keys.shownKeys(of: account).filter { $0.state == .good }.map(
            \.identifier)
        return try accounts.reading(account) { () throws(StoreFault) in
            let all = try accounts.kept(account)?.macTokens.list() ?? []
            return all.filter { $0.state == .good && good.contains($0.credential) }
        }
    }

    /// Throws `tooManyMacTokens` if there is no room for a token that replaces none.
    private func checkRoom(
        for name: Bytes, of key: ServerKey, account: Account
    ) throws(Denial) {
        let others = try accounts.reading(account) { () throws(StoreFault) in
            try accounts.kept(account)?.macTokens.list().count {
                $0.credential != key.identifier || $0.name != name
            }
        }
        guard (others ?? 0) < MACTokenStore.limit else { throw Denial(.tooManyMacTokens) }
    }

    /// Stores an issued token, if its key is still valid and the server's answer is consistent.
    ///
    /// Throws `unknownServer` if the key was removed meanwhile, and `serverRefused` if the audience
    /// is not that of the key or the identifier belongs to another key's token.
    private func keep(
        _ given: RelayMACToken, name: Bytes, of key: ServerKey, account: Account
    ) throws(Denial) -> StoredMACToken {
        try accounts.reading(account) {
            // The key may have been removed while the server was asked.
            guard let kept = try accounts.kept(account),
                let now = try kept.servers.key(key.identifier), now.state == .good
            else { throw Denial(.unknownServer, subject: key.server.bytes) }
            guard given.audience == key.audience else {
                throw Denial(.serverRefused, subject: Bytes("audience".utf8))
            }
            // The identifier comes from this server and names the file, so it must not overwrite
            // another key's token.
            let isAnothers = try kept.macTokens.list().contains {
                $0.identifier == given.token && $0.credential != key.identifier
            }
            guard !isAnothers else {
                throw Denial(.serverRefused, subject: Bytes("token".utf8))
            }
            let token = StoredMACToken(
                name, for: key, identifier: given.token, created: accounts.instant,
                expires: Instant(seconds: min(given.expires, Instant.last)))
            var bytes = given.secret
            try kept.macTokens.keep(token, secret: try SecretBytes(moving: &bytes))
            return token
        }
    }
}

extension MACTokenAnswer {
    init(_ token: StoredMACToken) {
        self.init(
            since: token.created.seconds, server: token.server, expires: token.expires.seconds,
            name: token.name, token: token.identifier)
    }
}
