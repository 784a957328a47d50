// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import SignedFormats
import Store
import Vault

/// Keys for servers, and the signing key: which there are, what they sign, and when they end.
///
/// Whatever awaits looks again afterwards, and acts on the credential that it began with, never on
/// whichever is the server's then.
@ServiceActor
final class ServerKeys {
    let relay: RelayClient
    let secureBootVariable: String
    let state: StateDirectory
    let turns: PerKeyQueue
    let vaults: Vaults
    let accounts: Accounts
    let credentials: Credentials
    let revocation: ServerKeyRevocation
    let templates: TemplateKeys

    init(
        relay: RelayClient, secureBootVariable: String, state: StateDirectory, turns: PerKeyQueue,
        vaults: Vaults, accounts: Accounts, credentials: Credentials,
        revocation: ServerKeyRevocation, templates: TemplateKeys
    ) {
        self.relay = relay
        self.secureBootVariable = secureBootVariable
        self.state = state
        self.turns = turns
        self.vaults = vaults
        self.accounts = accounts
        self.credentials = credentials
        self.revocation = revocation
        self.templates = templates
    }
}

extension ServerKeys {
    /// An account's keys for servers, for a request that uses or changes them: those that do not fit
    /// the fingers any more are revoked first.
    func serverKeys(of account: Account) async throws(Denial) -> [ServerKey] {
        try await usableKeys(of: account).filter { !$0.isSigning }
    }

    /// An account's signing key, for a request that uses or changes it: revoked first if it does not
    /// fit the fingers any more; nil for none.
    func signingKey(of account: Account) async throws(Denial) -> ServerKey? {
        try await usableKeys(of: account).filter(\.isSigning).best
    }

    private func usableKeys(of account: Account) async throws(Denial) -> [ServerKey] {
        await templates.openTemplates(of: account)
        return try accounts.reading(account) { () throws(StoreFault) in
            guard let kept = try accounts.kept(account) else { return [] }
            let enrolment = try kept.prints.enrolment()
            // Also where what a reader keeps was changed: that ends the local key, and with it these.
            try credentials.revokeIfUnfit(account, kept, enrolment)
            let keys = try revocation.revokeUnfitServerKeys(account, kept, enrolment)
            try revocation.forgetUselessTokens(kept, keeping: keys)
            return keys
        }
    }

    /// The key for a server, if a touch could open it.
    func goodKey(
        for server: ServerURL, _ account: Account
    ) async throws(Denial) -> ServerKey {
        let keys = try await serverKeys(of: account).filter {
            $0.server == server.bytes && $0.state != .removing
        }
        guard let key = keys.best else { throw Denial(.unknownServer, subject: server.bytes) }
        guard key.state == .good else { throw Denial.invalidated(key) }
        return key
    }

    /// The signing key, if a touch could open it.
    func goodSigningKey(of account: Account) async throws(Denial) -> ServerKey {
        guard let key = try await signingKey(of: account) else { throw Denial(.noSigningKey) }
        guard key.state == .good else { throw Denial.invalidated(key) }
        return key
    }
}

extension ServerKeys {
    /// A challenge of a server's for a key; no, where it is for another audience.
    func challenge(
        for key: ServerKey, _ action: Bytes, _ url: ServerURL, _ account: Account
    ) async throws(Denial) -> Bytes {
        let wish = RelayChallengeRequest(
            server: url.bytes, account: key.account, device: state.device,
            application: key.application, action: action)
        let answer = await relay.ask(.challenge(wish), for: account.uid)
        guard case .challenge(let challenge, let audience, _) = answer else {
            throw denial(of: answer, url, account, signedBy: nil)
        }
        guard audience == key.audience else {
            throw Denial(.serverRefused, subject: Bytes("audience".utf8))
        }
        return challenge
    }

    /// Opens a key with the fingers as they are now, and signs; the counter is on disk before. A key
    /// that does not open is destroyed.
    ///
    /// - Parameter found: the key as it was found, of which credential and state are still to be so.
    func signed(
        by found: ServerKey, in namespace: SignatureNamespace, _ account: Account,
        _ standing: AccountSnapshot, for touch: Touch<ScannedFinger>,
        _ message: (ServerKey) throws(CryptoFault) -> SignedMessage
    ) async throws(Denial) -> SignedAnswer {
        try await advancing(found, account, standing) { (key) async throws(VaultError) in
            let signs: SignedMessage
            do throws(CryptoFault) { signs = try message(key) } catch { throw .crypto(error) }
            let signature = try await sign(signs.digest, namespace, key, standing, for: touch)
            return SignedAnswer(statement: signs.text, signature: signature)
        }
    }

    /// Uses a key once: the counter is on disk before, and a key that does not open is destroyed.
    private func advancing<Signed>(
        _ found: ServerKey, _ account: Account, _ standing: AccountSnapshot,
        _ body: (ServerKey) async throws(VaultError) -> Signed
    ) async throws(Denial) -> Signed {
        let servers = standing.kept.servers
        return try await accounts.answering(account) {
            guard var key = try servers.key(found.identifier), key.state == found.state else {
                throw Denial.missing(found)
            }
            guard key.sealed(for: standing.enrolment.state) != nil else {
                try revocation.invalidate(key, account, standing.kept)
                throw Denial.invalidated(key)
            }
            key = try servers.advance(key)
            do throws(VaultError) {
                return try await body(key)
            } catch .doesNotOpen {
                if let key = try servers.key(found.identifier) {
                    try revocation.invalidate(key, account, standing.kept)
                }
                throw Denial.invalidated(key)
            } catch { throw StoreFault.vault(error) }
        }
    }

    /// The same for a server's challenge: the statement and its signature.
    func signed(
        _ challenge: Bytes, _ action: Bytes, by key: ServerKey, _ account: Account,
        _ standing: AccountSnapshot, for touch: Touch<ScannedFinger>,
        service: Bytes = signetService,
        purpose: Bytes = []
    ) async throws(Denial) -> (Bytes, Bytes) {
        let signed = try await signed(by: key, in: .login, account, standing, for: touch) {
            (key) throws(CryptoFault) in
            var statement = statement(
                challenge, action, Factor.fingerprint, key, standing.enrolment,
                service: service)
            statement.purpose = purpose
            return try SignedMessage(text: statement.encoded())
        }
        return (signed.statement ?? [], signed.signature)
    }

    /// The statement by which a registration is given up, and its signature: the one thing that a key
    /// signs without a touch, and it says so.
    func signedRemoval(
        _ challenge: Bytes, by key: ServerKey, _ account: Account, _ standing: AccountSnapshot
    ) async throws(Denial) -> (Bytes, Bytes) {
        try await advancing(key, account, standing) { (key) async throws(VaultError) in
            let statement = statement(
                challenge, LoginAction.remove, Factor.possession, key, standing.enrolment)
            let message = try RemovalMessage(statement)
            let signature = try await signature(key, .login, standing) {
                (ready, context) throws(VaultError) in
                try ready.sign(message, context)
            }
            return (statement.encoded(), signature)
        }
    }

    /// What a server's key signs.
    func statement(
        _ challenge: Bytes, _ action: Bytes, _ factor: Bytes, _ key: ServerKey,
        _ enrolment: Enrolment, service: Bytes = signetService
    ) -> LoginStatement {
        LoginStatement(
            head: head(key, for: key.audience),
            challenge: challenge, action: action, service: service, terminal: [],
            purpose: [], claims: claims(key, factor, enrolment))
    }

    /// Who says it to whom, where a key signs.
    func head(_ key: ServerKey, for audience: Bytes) -> StatementHead {
        StatementHead(
            audience: audience, account: key.account, device: state.device,
            credential: key.identifier)
    }

    /// How a statement came about that a key signs.
    func claims(_ key: ServerKey, _ factor: Bytes, _ enrolment: Enrolment) -> StatementClaims {
        StatementClaims(
            factor: factor,
            integrity: Integrity(
                key: key.vault == .tpm ? .tpm : .file,
                secureBoot: Firmware.secureBoot(at: secureBootVariable)),
            enrolment: enrolment.state.generation, counter: key.counter, issued: accounts.instant)
    }

    /// The SSHSIG blob over what has this SHA-256 digest, by a key of the account's.
    func sign(
        _ digest: Bytes, _ namespace: SignatureNamespace, _ key: ServerKey,
        _ standing: AccountSnapshot,
        for touch: Touch<ScannedFinger>
    ) async throws(VaultError) -> Bytes {
        let data = SSHSignature.signedData(namespace: namespace.bytes, messageDigest: digest)
        return try await signature(key, namespace, standing) {
            (ready, context) throws(VaultError) in
            try ready.sign(data, context, for: touch.match)
        }
    }

    private func signature(
        _ key: ServerKey, _ namespace: SignatureNamespace, _ standing: AccountSnapshot,
        _ sign:
            @escaping @Sendable (any ReadyKey, SealingContext) throws(VaultError)
            -> P256Signature
    ) async throws(VaultError) -> Bytes {
        guard let sealed = key.sealed(for: standing.enrolment.state) else { throw .doesNotOpen }
        let context: SealingContext
        do throws(StoreFault) {
            context = try standing.kept.servers.context(
                key.identifier, server: key.server, standing.enrolment.state)
        } catch { throw .malformed }
        let numbers = try await vaults.call(key.vault) { vault throws(VaultError) in
            let ready = try vault.ready(key: sealed, context)
            defer { ready.release() }
            return try sign(ready, context)
        }
        return SSHSignature(
            publicKey: key.publicKey, namespace: namespace, r: numbers.r, s: numbers.s
        ).blob
    }
}

extension ServerKeys {
    /// The answer to the client that a server's answer becomes.
    ///
    /// - Parameter key: the key that signed what the server was asked; nil where none did.
    func settle(
        _ answer: RelayAnswer, _ url: ServerURL, _ account: Account, signedBy key: ServerKey?
    ) throws(Denial) -> Answer {
        switch answer {
        case .loggedIn(let tokens): return try given(tokens, url, account, signedBy: key)
        case .registered, .proven, .challenge, .removed, .refused, .unreachable, .macToken,
            .awaited, .listed, .operation, .decided:
            throw denial(of: answer, url, account, signedBy: key)
        }
    }

    private func given(
        _ tokens: RelayTokens, _ url: ServerURL, _ account: Account, signedBy key: ServerKey?
    ) throws(Denial) -> Answer {
        let state = try accounts.reading(account) { () throws(StoreFault) -> ServerKey.State? in
            guard let key, let kept = try accounts.kept(account) else { return nil }
            return try kept.servers.key(key.identifier)?.state
        }
        // Switched off meanwhile: what was asked for before gives nothing now.
        guard state == .good else { throw Denial(.unknownServer, subject: url.bytes) }
        return .token(
            TokenAnswer(
                accessToken: tokens.accessToken, seconds: tokens.seconds,
                refreshToken: tokens.refreshToken))
    }

    /// Why a server gave nothing; a key that is not good there any more is destroyed, if the server
    /// has seen by its signature whose it is: that very key, and no other.
    func denial(
        of answer: RelayAnswer, _ url: ServerURL, _ account: Account, signedBy key: ServerKey?
    ) -> Denial {
        switch answer {
        case .unreachable(let why, _, _):
            return Denial(Task.isCancelled ? .cancelled : .serverUnreachable, subject: why)
        case .refused(let code, _, _):
            switch (String(decoding: code, as: UTF8.self), key) {
            case ("activation-refused", _): return Denial(.activationRefused)
            case ("key-blocked", let key): return revocation.blocked(key, url, account)
            case ("key-replaced", let key?):
                return revocation.destroyed(.serverKeyReplaced, key, account)
            case ("key-removed", let key?):
                return revocation.destroyed(.serverKeyRemoved, key, account)
            default: return Denial(.serverRefused, subject: code)
            }
        case .registered, .proven, .challenge, .loggedIn, .removed, .macToken, .awaited,
            .listed, .operation, .decided:
            return Denial(.serverUnreachable, subject: Bytes("another answer than asked".utf8))
        }
    }
}

/// What is logged in to where it is no PAM service.
let signetService = Bytes("signet".utf8)

/// What a key signs: a text of the daemon's, or something of the caller's of which it knows the digest.
struct SignedMessage {
    /// The text; nil where it is the caller's.
    let text: Bytes?
    /// SHA-256 of it.
    let digest: Bytes

    init(text: Bytes) throws(CryptoFault) {
        self.text = text
        digest = try SHA256.digest(text)
    }

    init(digest: Bytes) {
        text = nil
        self.digest = digest
    }
}

extension Denial {
    /// There is no such key, or not any more.
    static func missing(_ key: ServerKey) -> Denial {
        key.isSigning ? Denial(.noSigningKey) : Denial(.unknownServer, subject: key.server)
    }

    /// The key does not open: the fingers changed since it was made.
    static func invalidated(_ key: ServerKey) -> Denial {
        key.isSigning
            ? Denial(.signingKeyInvalidated) : Denial(.serverKeyInvalidated, subject: key.server)
    }
}

extension [ServerKey] {
    /// The one that opens, of those for the same: a crash may leave the one that it replaced.
    var best: ServerKey? { first { $0.state == .good } ?? first }
}

extension ServerKey {
    /// For the journal.
    var serverText: String {
        isSigning ? "the signing key" : "it was for \(String(decoding: server, as: UTF8.self))"
    }
}

extension ServerKeys {
    /// Makes a key for a relying party, sealed to the fingers as they stood at the touch: throws
    /// `.changedMeanwhile` where they do not any more.
    func newKey(for server: Bytes, _ standing: AccountSnapshot) async throws(StoreFault)
        -> NewServerKey
    {
        let identifier: Bytes
        do throws(SystemFault) { identifier = try randomBytes(16) } catch {
            throw .file(.system(error))
        }
        let context = try standing.kept.servers.context(
            identifier, server: server, standing.enrolment.state)
        let kind = await vaults.chosen(after: standing.credential.vault)
        let made: NewCredential
        do throws(VaultError) {
            made = try await vaults.call(kind) { vault throws(VaultError) in
                try vault.create(context)
            }
        } catch { throw .vault(error) }
        guard try standing.kept.prints.enrolment().state == standing.enrolment.state else {
            throw .changedMeanwhile
        }
        return NewServerKey(made: made, context: context, vault: kind)
    }

    /// The same where nobody else has given a challenge.
    func ownMatter(_ purpose: Bytes, _ account: Account) throws(Denial) -> SignedMatter {
        try accounts.reading(account) { () throws(SystemFault) in
            SignedMatter(purpose: purpose, challenge: try randomBytes(Limit.challenge))
        }
    }
}
