import Crypto
import Loop
import Policy
import Posix
import Statement
import Store
import Vault
import Wire

// MAC tokens: got by a touch, used without one. The secret is opened here, for each request anew, and
// never leaves this process.
extension Service {
    /// What the token is called with which operations are read; nobody else's is called so.
    static let readingTokenName = Bytes("signet-operations".utf8)

    /// A touch that gets a MAC token from a server, in the place of the other one of this name.
    func addMACToken(
        _ request: MACTokenAddRequest, _ account: Account, _ client: any Client
    ) async -> Answer {
        guard let url = ServerURL(request.server), SecretName.fault(request.name) == nil,
            request.name != Self.readingTokenName
        else { return .denial(Denial(.badRequest)) }
        let key: ServerKey
        switch await goodKey(for: url, account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let found): key = found
        }
        if case .deny(let denial) = room(for: request.name, of: key, account) {
            return .denial(denial)
        }
        let challenge: Bytes
        switch await self.challenge(for: key, LoginAction.macToken, url, account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let given): challenge = given
        }
        let matter = SignedMatter(
            purpose: MACTokenPurpose.text(request.name, request.server), challenge: challenge)
        let asker = Asker("signet mac-token (\(account.name))")
        let milliseconds = request.timeoutMilliseconds
        return await afterTouch(matter, asker, account, milliseconds: milliseconds, client) {
            standing in
            let issued = await self.issueMACToken(
                request.name, challenge, by: key, url, account, standing, client)
            switch issued {
            case .deny(let denial): return .denial(denial)
            case .allow(let token):
                await client.send(.macToken(MACTokenAnswer(token)))
                return .done(DoneAnswer())
            }
        }
    }

    /// Signs a challenge for a token, and keeps what the server gives.
    func issueMACToken(
        _ name: Bytes, _ challenge: Bytes, by key: ServerKey, _ url: ServerURL,
        _ account: Account, _ standing: Standing, _ client: any Client
    ) async -> Ruling<MACToken> {
        let heard = await serverHears(
            of: key, account, standing.kept, telling: client
        ) { standing in
            await signed(by: key, in: .login, account, standing) { (key) throws(CryptoFault) in
                var statement = statement(
                    challenge, LoginAction.macToken, Factor.fingerprint, key, standing.enrolment)
                statement.purpose = name
                return try SignedMessage(text: statement.encoded())
            }
        } _: { signed in
            .macToken(
                server: url.bytes, statement: signed.statement ?? [], signature: signed.signature)
        }
        switch heard {
        case .deny(let denial): return .deny(denial)
        case .allow(.macToken(let given)): return keep(given, name, of: key, account)
        case .allow(let answer): return .deny(denial(of: answer, url, account, signedBy: key))
        }
    }

    /// Sends an account's MAC tokens, after those without a key were forgotten.
    func listMACTokens(_ account: Account, _ client: any Client) async -> Answer {
        switch await macTokens(of: account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let tokens):
            for token in tokens { await client.send(.macToken(MACTokenAnswer(token))) }
            return .done(DoneAnswer())
        }
    }

    /// The header of an HTTP request by a MAC token: that this device is there, and no touch.
    func macHeader(_ request: MACTokenHeaderRequest, _ account: Account) async -> Answer {
        guard let url = ServerURL(request.server) else { return .denial(Denial(.badRequest)) }
        let key: ServerKey
        switch await goodKey(for: url, account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let found): key = found
        }
        // With that one, whoever holds a header could read in the daemon's place.
        guard request.name != Self.readingTokenName else {
            return .denial(Denial(.unknownMacToken, subject: request.name))
        }
        let header = header(
            by: request.name, of: key, request.method, request.resource, request.bodyDigest, account
        )
        switch header {
        case .deny(let denial): return .denial(denial)
        case .allow(nil): return .denial(Denial(.unknownMacToken, subject: request.name))
        case .allow(let header?): return .authorization(header)
        }
    }

    /// A header by the key's token of this name; nil where there is none that is good now.
    func header(
        by name: Bytes, of key: ServerKey, _ method: Bytes, _ resource: Bytes,
        _ bodyDigest: Bytes, _ account: Account
    ) -> Ruling<Bytes?> {
        reading(account) { () throws(StoreFault) in
            guard let tokens = try kept(account)?.macTokens,
                let token = try tokens.list().first(where: {
                    $0.credential == key.identifier && $0.name == name && $0.state == .good
                }), token.expires > instant
            else { return .allow(nil) }
            do throws(StoreFault) {
                let header = try header(by: token, in: tokens, method, resource, bodyDigest)
                return header.map { .allow($0) } ?? .deny(Denial(.badRequest))
            } catch {
                guard error == .vault(.doesNotOpen) else { throw error }
                try forgetAltered(token, in: tokens, account)
                return .allow(nil)
            }
        }
    }

    /// A header by this very token; nil for what is no request of the canonical form. Throws
    /// `.vault(.doesNotOpen)` for a token that is not as it was written.
    func header(
        by token: MACToken, in tokens: MACTokenStore, _ method: Bytes, _ resource: Bytes,
        _ bodyDigest: Bytes
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
            issued: instant)
        guard (try? MACText(parsing: text.encoded())) == text else { return nil }
        let code: Bytes
        do throws(CryptoFault) {
            code = try HMAC.sha256(of: text.encoded(), key: secret)
        } catch { throw .vault(.crypto(error)) }
        return MACAuthorization(
            token: token.identifier, nonce: nonce, issued: text.issued, mac: code
        ).header
    }

    /// Nothing can be proved with what does not open.
    func forgetAltered(
        _ token: MACToken, in tokens: MACTokenStore, _ account: Account
    ) throws(StoreFault) {
        journal.fault("a MAC token was altered", account: account.name)
        try tokens.remove(token)
    }
}

extension Service {
    /// An account's tokens whose key is there and good; the others are forgotten.
    private func macTokens(of account: Account) async -> Ruling<[MACToken]> {
        switch await serverKeys(of: account) {
        case .deny(let denial): return .deny(denial)
        case .allow(let keys):
            let good = keys.filter { $0.state == .good }.map(\.identifier)
            return reading(account) { () throws(StoreFault) in
                guard let kept = try kept(account) else { return .allow([]) }
                var tokens: [MACToken] = []
                for token in try kept.macTokens.list() {
                    if !good.contains(token.credential) {
                        try kept.macTokens.remove(token)
                    } else if token.state == .good {
                        tokens.append(token)
                    }
                }
                return .allow(tokens)
            }
        }
    }

    /// No, where another token would be one too many.
    private func room(for name: Bytes, of key: ServerKey, _ account: Account) -> Ruling<Void> {
        reading(account) { () throws(StoreFault) in
            let others = try kept(account)?.macTokens.list().filter {
                $0.credential != key.identifier || $0.name != name
            }
            guard (others?.count ?? 0) < MACTokenStore.limit else {
                return .deny(Denial(.tooManyMacTokens))
            }
            return .allow(())
        }
    }

    private func keep(
        _ given: RelayMACToken, _ name: Bytes, of key: ServerKey, _ account: Account
    ) -> Ruling<MACToken> {
        reading(account) { () throws(StoreFault) in
            // While the server was asked, the key may have gone.
            guard let kept = try kept(account),
                let now = try kept.servers.key(key.identifier), now.state == .good
            else { return .deny(Denial(.unknownServer, subject: key.server)) }
            guard given.audience == key.audience else {
                return .deny(Denial(.serverRefused, subject: Bytes("audience".utf8)))
            }
            // The file is named after what this server says: another's stays what it is.
            let isAnothers = try kept.macTokens.list().contains {
                $0.identifier == given.token && $0.credential != key.identifier
            }
            guard !isAnothers else {
                return .deny(Denial(.serverRefused, subject: Bytes("token".utf8)))
            }
            let token = MACToken(
                name, for: key, identifier: given.token, created: instant,
                expires: Instant(seconds: min(given.expires, Instant.last)))
            var bytes = given.secret
            let secret: SecretBytes
            do throws(SystemFault) { secret = try SecretBytes(moving: &bytes) } catch {
                throw .file(.system(error))
            }
            try kept.macTokens.keep(token, secret)
            return .allow(token)
        }
    }
}

/// What receipts and the journal say that a MAC token was asked for.
enum MACTokenPurpose {
    /// `server URL: MAC token NAME`; whoever writes it down escapes it.
    static func text(_ name: Bytes, _ server: Bytes) -> Bytes {
        Bytes("server ".utf8) + server + Bytes(": MAC token ".utf8) + name
    }
}

extension MACTokenAnswer {
    init(_ token: MACToken) {
        self.init(
            since: token.created.seconds, server: token.server, expires: token.expires.seconds,
            name: token.name, token: token.identifier)
    }
}
