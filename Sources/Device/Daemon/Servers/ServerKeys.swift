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

/// An account's keys for servers and its signing key: finding, making and using them.
///
/// Each server gets its own key, sealed to the fingers. A key's counter is advanced on disk
/// before each signature, except the one that registers the key. Every function reads the key again
/// after it has awaited something, and acts on the credential with which it started, never on
/// another one that the server may have by then.
@ServiceActor
final class ServerKeys {
    let relay: RelayClient
    let secureBootVariable: String
    let state: StateDirectory
    let turns: PerKeyQueue<CredentialID>
    let vaults: Vaults
    let accounts: Accounts
    let credentials: Credentials
    let holding: ServerKeyHolding
    let templates: TemplateKeyOpener

    init(
        relay: RelayClient, secureBootVariable: String, state: StateDirectory,
        turns: PerKeyQueue<CredentialID>,
        vaults: Vaults, accounts: Accounts, credentials: Credentials,
        holding: ServerKeyHolding, templates: TemplateKeyOpener
    ) {
        self.relay = relay
        self.secureBootVariable = secureBootVariable
        self.state = state
        self.turns = turns
        self.vaults = vaults
        self.accounts = accounts
        self.credentials = credentials
        self.holding = holding
        self.templates = templates
    }
}

extension ServerKeys {
    /// An account's keys for servers, for a request that uses or changes them.
    ///
    /// Keys that do not fit the present fingers are revoked first.
    func serverKeys(of account: Account) async throws(Denial) -> [ServerKey] {
        try await usableKeys(of: account).filter { !$0.isSigning }
    }

    /// An account's signing key, for a request that uses or changes it; nil if there is none.
    ///
    /// A key that does not fit the present fingers is revoked first.
    func signingKey(of account: Account) async throws(Denial) -> ServerKey? {
        try await usableKeys(of: account).filter(\.isSigning).best
    }

    /// All keys, as lists show them (`ServerKeyHolding.shown`). Changes nothing.
    func shownKeys(of account: Account) async throws(Denial) -> [ServerKey] {
        await templates.openTemplates(of: account)
        return try accounts.reading(account) { () throws(StoreFault) in
            guard let kept = try accounts.kept(account) else { return [] }
            let enrolment = try kept.prints.enrolment()
            return try holding.shown(
                kept, for: enrolment, credential: kept.credential.judgement(on: enrolment))
        }
    }

    /// All keys, after everything that does not fit the present fingers was revoked, and MAC tokens
    /// without a good key were deleted.
    private func usableKeys(of account: Account) async throws(Denial) -> [ServerKey] {
        await templates.openTemplates(of: account)
        return try accounts.reading(account) { () throws(StoreFault) in
            guard let kept = try accounts.kept(account) else { return [] }
            let enrolment = try kept.prints.enrolment()
            // Changed contents of a reader end the local credential too, and these keys with it.
            try credentials.revokeIfUnfit(account, kept: kept, enrolment: enrolment)
            let keys = try holding.settled(
                Holder(account: account, kept: kept), for: enrolment)
            try holding.forgetUselessTokens(kept, keeping: keys)
            return keys
        }
    }

    /// The key for a server, if a touch could open it; throws `unknownServer` or
    /// `serverKeyInvalidated`.
    func goodKey(
        for server: CanonicalServerURL, account: Account
    ) async throws(Denial) -> ServerKey {
        let keys = try await serverKeys(of: account).filter {
            $0.server == ServerURL(server) && $0.state != .removing
        }
        guard let key = keys.best else { throw Denial(.unknownServer, subject: server.bytes) }
        guard key.state == .good else { throw Denial.invalidated(key) }
        return key
    }

    /// The signing key, if a touch could open it; throws `noSigningKey` or `signingKeyInvalidated`.
    func goodSigningKey(of account: Account) async throws(Denial) -> ServerKey {
        guard let key = try await signingKey(of: account) else { throw Denial(.noSigningKey) }
        guard key.state == .good else { throw Denial.invalidated(key) }
        return key
    }
}

extension ServerKeys {
    /// Obtains a challenge from a server for a key.
    ///
    /// Throws the denial for the server's answer, and `serverRefused` if the challenge is for
    /// another audience than the key, or if the server's policy will not accept what this device
    /// can answer.
    func challenge(
        for key: ServerKey, by factor: ConfirmingFactor, action: Bytes, url: CanonicalServerURL,
        account: Account
    ) async throws(Denial) -> Challenge {
        let challengeRequest = RelayChallengeRequest(
            server: ServerURL(url), account: key.account, device: state.device,
            application: key.application, action: action)
        let answer = await relay.ask(.challenge(challengeRequest), for: account.uid)
        guard case .challenge(let challenge, let audience, _, let required) = answer else {
            throw denial(of: answer, url: url, account: account, signedBy: nil)
        }
        guard audience == key.audience else {
            throw Denial(.serverRefused, subject: Bytes("audience".utf8))
        }
        try check(required, by: factor, key: key)
        return challenge
    }

    /// Throws a denial if a server requires what this machine does not fulfil with a key:
    /// `passwordNotAccepted`, `fingerNotAccepted` or `serverRefused`.
    ///
    /// It is called before a finger or the password is asked for. What a TPM must have proven is
    /// the server's to judge.
    func check(
        _ required: RelayRequirements, by factor: ConfirmingFactor, key: ServerKey
    ) throws(Denial) {
        let vault = factor == .password ? key.password?.vault : key.vault
        try check(required, by: factor, isInTPM: vault == .tpm, server: key.server)
    }

    /// Throws a denial if a server requires what a key that does not exist yet would not fulfil.
    func check(
        _ required: RelayRequirements, by factor: ConfirmingFactor, isInTPM: Bool,
        server: ServerURL
    ) throws(Denial) {
        if required.isSuperset(of: [.noTouch, .noPassword]) { throw .policy(.factor) }
        if factor == .finger, required.contains(.noTouch) {
            throw Denial(.fingerNotAccepted, subject: server.bytes)
        }
        if factor == .password, required.contains(.noPassword) {
            throw Denial(.passwordNotAccepted, subject: server.bytes)
        }
        if required.contains(.tpmKey), !isInTPM { throw .policy(.keys) }
        if required.contains(.secureBoot), Firmware.secureBoot(at: secureBootVariable) != .on {
            throw .policy(.secureBoot)
        }
    }

    /// Signs with a key after a touch, or with its password key after the password was given.
    ///
    /// The counter, which both share, is on disk before the signature is made. A key that does not
    /// open for the current fingers is invalidated, and its denial thrown; a password key that does
    /// not open stays, and `passwordKeyStale` is thrown. Throws `unknownServer` or `noSigningKey`
    /// if the key was removed or has changed its state since it was found, and `noPasswordKey`.
    ///
    /// - Parameters:
    ///   - found: the key as it was found; its identifier and state must not have changed since.
    ///   - message: makes the message from the key with its new counter.
    /// - Returns: The signature, with the text if the daemon composed it.
    func signed(
        by found: ServerKey, in namespace: SignatureNamespace, account: Account,
        snapshot: AccountSnapshot, for confirmation: Confirmation,
        _ message: (ServerKey) throws(CryptoFault) -> SignedMessage
    ) async throws(Denial) -> SignedAnswer {
        switch confirmation {
        case .finger(let touch):
            return try await advancing(found, account: account, snapshot: snapshot) {
                (key) async throws(VaultError) in
                let signs: SignedMessage
                do throws(CryptoFault) { signs = try message(key) } catch { throw .crypto(error) }
                let signature = try await sign(
                    signs.digest, namespace: namespace, key: key, snapshot: snapshot, for: touch)
                return SignedAnswer(statement: signs.text, signature: signature)
            }
        case .password(let proof):
            return try await signedByPassword(
                found, in: namespace, account: account, snapshot: snapshot, for: proof, message)
        }
    }

    /// Uses a key once: advances its counter on disk, then runs `body`.
    ///
    /// A key that does not fit the fingers, or that does not open in `body`, is invalidated.
    func advancing<Signed>(
        _ found: ServerKey, account: Account, snapshot: AccountSnapshot,
        _ body: (ServerKey) async throws(VaultError) -> Signed
    ) async throws(Denial) -> Signed {
        let servers = snapshot.kept.servers
        return try await accounts.answering(account) {
            guard var key = try servers.key(found.identifier), key.state == found.state else {
                throw Denial.missing(found)
            }
            guard key.sealed(for: snapshot.enrolment.state) != nil else {
                try holding.invalidate(
                    key, of: Holder(account: account, kept: snapshot.kept))
                throw Denial.invalidated(key)
            }
            key = try servers.advance(key)
            do throws(VaultError) {
                return try await body(key)
            } catch .doesNotOpen {
                if let key = try servers.key(found.identifier) {
                    try holding.invalidate(
                        key, of: Holder(account: account, kept: snapshot.kept))
                }
                throw Denial.invalidated(key)
            } catch { throw StoreFault.vault(error) }
        }
    }

    /// Signs a server's challenge once the user has confirmed it; returns the statement and its
    /// SSHSIG signature.
    func signed(
        _ challenge: Challenge, action: Bytes, by key: ServerKey, account: Account,
        snapshot: AccountSnapshot, for confirmation: Confirmation,
        service: ServiceName = .signet,
        purpose: Bytes = []
    ) async throws(Denial) -> (Bytes, Bytes) {
        let signed = try await signed(
            by: key, in: .login, account: account, snapshot: snapshot, for: confirmation
        ) {
            (key) throws(CryptoFault) in
            var statement = statement(
                challenge, action: action, factor: confirmation.factor, key: key,
                enrolment: snapshot.enrolment,
                service: service)
            statement.purpose = purpose
            return try SignedMessage(text: statement.encoded())
        }
        return (signed.statement ?? [], signed.signature)
    }

    /// Signs the statement that gives up a registration; returns the statement and its SSHSIG
    /// signature.
    ///
    /// This is the only statement that a key signs without a touch, and the statement says so: its
    /// factor is possession.
    func signedRemoval(
        _ challenge: Challenge, by key: ServerKey, account: Account, snapshot: AccountSnapshot
    ) async throws(Denial) -> (Bytes, Bytes) {
        try await advancing(key, account: account, snapshot: snapshot) {
            (key) async throws(VaultError) in
            let statement = statement(
                challenge, action: LoginAction.remove, factor: Factor.possession, key: key,
                enrolment: snapshot.enrolment)
            let message = try RemovalMessage(statement)
            let signature = try await signature(key, namespace: .login, snapshot: snapshot) {
                (ready, context) throws(VaultError) in
                try ready.sign(message, context: context)
            }
            return (statement.encoded(), signature)
        }
    }

    /// The statement that a key signs for a server's challenge; `action` and `factor` are
    /// `LoginAction` and `Factor` values.
    func statement(
        _ challenge: Challenge, action: Bytes, factor: Bytes, key: ServerKey,
        enrolment: Enrolment, service: ServiceName = .signet
    ) -> LoginStatement {
        LoginStatement(
            head: head(key, for: key.audience),
            challenge: challenge, action: action, service: service, terminal: [],
            purpose: [], claims: claims(key, factor: factor, enrolment: enrolment))
    }

    /// The parties of a statement: audience, account, device and credential.
    func head(_ key: ServerKey, for audience: Audience) -> StatementHead {
        StatementHead(
            audience: audience, account: key.account, device: state.device,
            credential: key.identifier)
    }

    /// How a statement came about: factor, key protection, secure boot, enrolment, counter and
    /// time.
    func claims(_ key: ServerKey, factor: Bytes, enrolment: Enrolment) -> StatementClaims {
        StatementClaims(
            factor: factor,
            integrity: Integrity(
                key: key.vault(for: factor) == .tpm ? .tpm : .file,
                secureBoot: Firmware.secureBoot(at: secureBootVariable)),
            enrolment: enrolment.state.generation, counter: key.counter, issued: accounts.instant)
    }

    /// Signs a message, given by its SHA-256 digest, with a key of the account; returns the SSHSIG
    /// blob.
    func sign(
        _ digest: Bytes, namespace: SignatureNamespace, key: ServerKey,
        snapshot: AccountSnapshot,
        for touch: Touch<ScannedFinger>
    ) async throws(VaultError) -> Bytes {
        let data = SSHSignature.signedData(namespace: namespace.bytes, messageDigest: digest)
        return try await signature(key, namespace: namespace, snapshot: snapshot) {
            (ready, context) throws(VaultError) in
            try ready.sign(data, context: context, for: touch.match)
        }
    }

    /// Loads a key in its vault, runs `sign` with it, and releases it.
    ///
    /// Throws `.doesNotOpen` if the key is not sealed for these fingers.
    private func signature(
        _ key: ServerKey, namespace: SignatureNamespace, snapshot: AccountSnapshot,
        _ sign:
            @escaping @Sendable (any ReadyKey, SealingContext) throws(VaultError)
            -> P256Signature
    ) async throws(VaultError) -> Bytes {
        guard let sealed = key.sealed(for: snapshot.enrolment.state) else { throw .doesNotOpen }
        let context: SealingContext
        do throws(StoreFault) {
            context = try snapshot.kept.servers.context(
                key.identifier, server: key.server, enrolment: snapshot.enrolment.state)
        } catch { throw .malformed }
        let numbers = try await vaults.call(key.vault) { vault throws(VaultError) in
            let ready = try vault.ready(key: sealed, context: context)
            defer { ready.release() }
            return try sign(ready, context)
        }
        return SSHSignature(
            publicKey: key.publicKey, namespace: namespace, r: numbers.r, s: numbers.s
        ).blob
    }
}

extension ServerKeys {
    /// Turns a server's answer into the answer for the client: tokens, or the thrown denial.
    ///
    /// - Parameter key: the key that signed the request to the server; nil if none did.
    func settle(
        _ answer: RelayAnswer, url: CanonicalServerURL, account: Account, signedBy key: ServerKey?
    ) throws(Denial) -> Answer {
        switch answer {
        case .loggedIn(let tokens):
            return try given(tokens, url: url, account: account, signedBy: key)
        case .registered, .proven, .challenge, .removed, .refused, .unreachable, .macToken,
            .awaited, .listed, .operation, .decided, .requirements, .attestation, .session,
            .sessionsListed, .sessionsEnded:
            throw denial(of: answer, url: url, account: account, signedBy: key)
        }
    }

    /// The tokens for the client, if the key is still valid.
    private func given(
        _ tokens: RelayTokens, url: CanonicalServerURL, account: Account, signedBy key: ServerKey?
    ) throws(Denial) -> Answer {
        let state = try accounts.reading(account) { () throws(StoreFault) -> ServerKey.State? in
            guard let key, let kept = try accounts.kept(account) else { return nil }
            return try kept.servers.key(key.identifier)?.state
        }
        // If the registration was given up meanwhile, an earlier request must not yield tokens.
        guard state == .good else { throw Denial(.unknownServer, subject: url.bytes) }
        return .token(
            TokenAnswer(
                accessToken: tokens.accessToken, seconds: tokens.seconds,
                refreshToken: tokens.refreshToken))
    }

    /// The denial for a server's answer that did not give what was asked for.
    ///
    /// A key that the server reports as replaced or removed is destroyed, but only if exactly that
    /// key signed the request, because only then has the server verified whose key it is.
    func denial(
        of answer: RelayAnswer, url: CanonicalServerURL, account: Account, signedBy key: ServerKey?
    ) -> Denial {
        switch answer {
        case .unreachable(let why, _, _):
            return Denial(Task.isCancelled ? .cancelled : .serverUnreachable, subject: why)
        case .refused(let code, _, _):
            switch (String(decoding: code, as: UTF8.self), key) {
            case ("activation-refused", _): return Denial(.activationRefused)
            case ("key-blocked", let key):
                return holding.blocked(key, url: url, account: account)
            case ("key-replaced", let key?):
                return holding.destroyed(.serverKeyReplaced, key: key, account: account)
            case ("key-removed", let key?):
                return holding.destroyed(.serverKeyRemoved, key: key, account: account)
            default: return Denial(.serverRefused, subject: code)
            }
        case .registered, .proven, .challenge, .loggedIn, .removed, .macToken, .awaited,
            .listed, .operation, .decided, .requirements, .attestation, .session,
            .sessionsListed, .sessionsEnded:
            return Denial(.serverUnreachable, subject: Bytes("another answer than asked".utf8))
        }
    }
}

extension Denial {
    /// The key does not exist, or exists no longer.
    static func missing(_ key: ServerKey) -> Denial {
        key.isSigning ? Denial(.noSigningKey) : Denial(.unknownServer, subject: key.server.bytes)
    }

    /// The key does not open, because the fingers have changed since it was made.
    static func invalidated(_ key: ServerKey) -> Denial {
        key.isSigning
            ? Denial(.signingKeyInvalidated)
            : Denial(.serverKeyInvalidated, subject: key.server.bytes)
    }
}

extension [ServerKey] {
    /// The usable one of several keys for the same purpose; a crash may leave behind a key that was
    /// replaced.
    var best: ServerKey? { first { $0.state == .good } ?? first }
}

extension ServerKey {
    /// The key's description for the journal.
    var serverText: String {
        isSigning
            ? "the signing key" : "it was for \(String(decoding: server.bytes, as: UTF8.self))"
    }
}

extension ServerKeys {
    /// The matter of a receipt for which no other party has given a challenge; the challenge is
    /// random.
    func ownMatter(_ purpose: Bytes, account: Account) throws(Denial) -> SignedMatter {
        try accounts.reading(account) { () throws(SystemFault) in
            SignedMatter(
                purpose: purpose, challenge: Challenge(random: try randomBytes(Challenge.count)))
        }
    }
}

extension Denial {
    /// A server's policy refuses the request.
    static func policy(_ unmet: UnmetRequirement) -> Denial {
        Denial(.serverRefused, subject: unmet.code.bytes)
    }
}
