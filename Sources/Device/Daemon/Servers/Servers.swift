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

/// An account's registrations at servers: making, using, listing and giving them up.
///
/// A registration is made with an activation code and a touch, and has its own key. If a
/// registration does not complete although the server may know its key, the server is told that it
/// was given up (`ServerRemoval.swift`).
@ServiceActor
final class Servers {
    let journal: DecisionJournal
    let relay: RelayClient
    let removals: RemovalRounds
    let state: StateDirectory
    let accounts: Accounts
    let credentials: Credentials
    let underWay: ChangesUnderWay
    let keys: ServerKeys
    let attestations: KeyAttestations
    let sessionTokens: SessionTokens
    let guards: TouchGuards
    let confirmations: Confirmations

    init(
        journal: DecisionJournal, relay: RelayClient, removals: RemovalRounds,
        state: StateDirectory, accounts: Accounts, credentials: Credentials,
        underWay: ChangesUnderWay, keys: ServerKeys, attestations: KeyAttestations,
        sessionTokens: SessionTokens, guards: TouchGuards, confirmations: Confirmations
    ) {
        self.journal = journal
        self.relay = relay
        self.removals = removals
        self.state = state
        self.accounts = accounts
        self.credentials = credentials
        self.underWay = underWay
        self.keys = keys
        self.attestations = attestations
        self.sessionTokens = sessionTokens
        self.guards = guards
        self.confirmations = confirmations
    }
}

extension Servers {
    var handlers: [RequestHandler] {
        [
            RequestHandler(enableServer).checkingFirst(checkEnabling),
            RequestHandler(disableServer).checkingFirst(checkDisabling),
            RequestHandler(loginServer), RequestHandler(listServers),
            RequestHandler(replacePasswordKey).checkingFirst(checkReplacing),
        ]
    }

    /// Throws what no password could change: `badRequest`, `knownServer`, `tooManyServers`, or the
    /// denial of a place from which no touch is accepted.
    func checkEnabling(
        _ request: ServerEnableRequest, account: Account, client: any Client
    ) async throws(Denial) {
        _ = try await url(of: request, account: account)
        guard request.factor == .finger else { return }
        let plan = guards.plan(for: ServerEnableRequest.self, account: account, milliseconds: .max)
        try guards.checkPlace(plan, client: client)
    }

    /// The server that the account may be registered at now.
    private func url(
        of request: ServerEnableRequest, account: Account
    ) async throws(Denial) -> CanonicalServerURL {
        guard let url = CanonicalServerURL(request.server),
            (try? ActivationCode(typed: request.code)) != nil
        else { throw Denial(.badRequest) }
        let keys = try await self.keys.serverKeys(of: account)
        if keys.contains(where: { $0.server == ServerURL(url) && $0.state == .good }) {
            throw Denial(.knownServer, subject: url.bytes)
        }
        guard keys.count < ServerStore.limit else { throw Denial(.tooManyServers) }
        return url
    }

    /// Registers this device at a server: a touch, the activation code, a new key, and its proof.
    ///
    /// The touch, or the password in its place, comes first, so that a finger that does not match
    /// uses up no code, and because the statement that proves the key says what there was. Before
    /// it, the server is asked what it requires, which uses up no code either. Where the server
    /// accepts passwords, a key for the password is registered, too, unless root registers without
    /// it. Throws `badRequest` for an invalid URL or code, `knownServer`, `tooManyServers`,
    /// `notAttestable`, or the denial for the server's answer.
    func enableServer(
        _ request: ServerEnableRequest, account: Account, password: VerifiedPassword?,
        client: any Client
    ) async throws(Denial) -> Answer {
        // Removals of which servers do not know yet are retried in the background, after this and
        // the other requests about servers; the client does not wait for them.
        defer { removals.want() }
        let url = try await url(of: request, account: account)
        let prepared = try await attestations.prepare(
            for: url, code: request.code, factor: request.factor, account: account)
        let matter = try self.keys.ownMatter(
            Bytes("server \(url.text): register".utf8), account: account)
        let plan = guards.plan(for: ServerEnableRequest.self, account: account, milliseconds: .max)
        return try await confirmations.confirmed(
            plan, by: request.factor, matter: matter, client: client
        ) { (snapshot, confirmation) throws(Denial) in
            try await self.register(
                request, url: url, attestation: prepared, account: account, snapshot: snapshot,
                confirmation: confirmation,
                entry: confirmation.shadowEntry ?? password?.entry, client: client)
        }
    }

    /// Logs in at a server for a command: signs the server's challenge after a touch, or after the
    /// password was given, and returns the tokens.
    func loginServer(
        _ request: LoginAtServerRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        defer { removals.want() }
        guard let url = CanonicalServerURL(request.server) else { throw Denial(.badRequest) }
        let key = try await keys.goodKey(for: url, account: account)
        try key.check(request.factor)
        let challenge = try await keys.challenge(
            for: key, by: request.factor, action: LoginAction.login, url: url, account: account)
        let matter = SignedMatter(
            purpose: Bytes("server \(url.text): log in as ".utf8) + key.account.bytes,
            challenge: challenge)
        let plan = guards.plan(
            for: LoginAtServerRequest.self, account: account,
            milliseconds: request.timeoutMilliseconds)
        return try await confirmations.confirmed(
            plan, by: request.factor, matter: matter, client: client
        ) { (snapshot, confirmation) throws(Denial) in
            let answer = try await keys.serverHears(
                of: key, account: account, kept: snapshot.kept, telling: client
            ) { (snapshot) throws(Denial) in
                try await keys.signed(
                    challenge, action: LoginAction.login, by: key, account: account,
                    snapshot: snapshot, for: confirmation)
            } _: { statement, signature in
                .login(
                    RelayLogin(server: ServerURL(url), statement: statement, signature: signature))
            }
            return try keys.settle(answer, url: url, account: account, signedBy: key)
        }
    }

    /// Sends the account's registrations.
    ///
    /// Changes no key.
    func listServers(
        _: ServerListRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        defer { removals.want() }
        for key in try await keys.shownKeys(of: account) where !key.isSigning {
            await client.send(.server(ServerAnswer(key)))
        }
        return .done(DoneAnswer())
    }
}

extension Servers {
    /// Carries out a registration after the touch, or after the password was given.
    ///
    /// The keys are on disk before the server sees their public halves. `entry` is the account's
    /// entry in shadow(5) from before its password was verified; nil if there is none, or if no
    /// password was given.
    private func register(
        _ request: ServerEnableRequest, url: CanonicalServerURL,
        attestation: PreparedAttestation?, account: Account, snapshot: AccountSnapshot,
        confirmation: Confirmation, entry: ShadowEntry?, client: any Client
    ) async throws(Denial) -> Answer {
        client.tell(asking: ServerURL(url))
        let relayRequest = RelayRequest.register(
            server: ServerURL(url), code: request.code, device: state.device,
            name: request.deviceName)
        let answer = await relay.ask(relayRequest, for: account.uid)
        guard case .registered(let begun) = answer else {
            return try keys.settle(answer, url: url, account: account, signedBy: nil)
        }
        return try await accounts.answering(account) {
            if request.factor == .password, !begun.acceptsPassword {
                throw Denial(.passwordNotAccepted, subject: url.bytes)
            }
            let new = try await keys.newKey(for: ServerURL(url), snapshot: snapshot)
            let password =
                begun.acceptsPassword
                ? try await keys.newPasswordKey(
                    for: new.identifier, at: ServerURL(url), by: new.vault, entry: entry,
                    snapshot: snapshot) : nil
            if request.factor == .password, password == nil { throw Denial(.passwordElsewhere) }
            let key = try snapshot.kept.servers.keep(
                new.made, as: new.identifier, context: new.context, by: new.vault,
                at: ServerRegistration(
                    server: ServerURL(url), begun: begun, deviceName: request.deviceName),
                state: .proving, password: password?.key, now: accounts.instant)
            underWay.begin(key)
            return try await prove(
                NewKeys(key: key, context: new.context, password: password), begun: begun,
                url: url, attestation: attestation, account: account, snapshot: snapshot,
                confirmation: confirmation)
        }
    }

    /// The keys of a registration, which are on disk, with the contexts that open them.
    struct NewKeys {
        let key: ServerKey
        let context: SealingContext
        let password: SealedPasswordKey?
    }

    /// Proves the keys, which are on disk already, to their server.
    ///
    /// Both sign the same statement, whose purpose names the key for the password.
    ///
    /// Unless the server accepts the key, it is deleted again. If the server may have accepted it,
    /// but its answer came too late or not at all, the server is told that the registration was
    /// given up. A key that was invalidated meanwhile, because the fingers have changed, is not
    /// confirmed.
    func prove(
        _ new: NewKeys, begun: RelayRegistration, url: CanonicalServerURL,
        attestation prepared: PreparedAttestation? = nil, account: Account,
        snapshot: AccountSnapshot, confirmation: Confirmation
    ) async throws -> Answer {
        let key = new.key
        let servers = snapshot.kept.servers
        let statement = statement(
            of: new, begun: begun, snapshot: snapshot, confirmation: confirmation)
        var attestation: RelayKeyAttestation?
        if let prepared {
            switch await attestations.attest(
                key, statement: statement.encoded(), as: prepared, account: account,
                snapshot: snapshot)
            {
            case .attested(let made): attestation = made
            case .none: break
            // The server has not seen the key yet.
            case .refused(let answer):
                underWay.end(key)
                try servers.remove(key)
                return try keys.settle(answer, url: url, account: account, signedBy: nil)
            case .failed(let error):
                underWay.end(key)
                try servers.remove(key)
                throw StoreFault.vault(error)
            }
        }
        var proof: RelayProof
        do throws(VaultError) {
            proof = try await self.proof(
                of: new, statement: statement, url: url, snapshot: snapshot,
                confirmation: confirmation)
        } catch {
            underWay.end(key)
            try servers.remove(key)
            throw StoreFault.vault(error)
        }
        proof.attestation = attestation
        let answer = await relay.ask(.prove(proof), for: account.uid) { [self] answer, isLate in
            underWay.end(key)
            if isLate { giveUp(key, after: answer, account: account, servers: servers) }
        }
        guard case .proven(let progress, _) = answer else {
            // While the relay is still waiting, the server's decision is open.
            if !underWay.includes(key) {
                giveUp(key, after: answer, account: account, servers: servers)
            }
            return try keys.settle(answer, url: url, account: account, signedBy: nil)
        }
        // While the server was asked, another activation may have completed first, or the fingers
        // may have changed.
        guard let now = try servers.key(key.identifier) else {
            throw Denial(.knownServer, subject: url.bytes)
        }
        guard now.state == .proving else { throw Denial.invalidated(key) }
        guard now.sealed(for: try snapshot.kept.prints.enrolment().state) != nil else {
            _ = try servers.invalidate(now)
            throw Denial.invalidated(key)
        }
        _ = try servers.confirm(now)
        journal.credential(of: account, change: "registered", because: "at \(url.text)")
        return .serverEnabled(
            ServerEnabledAnswer(
                account: key.account, application: key.application,
                fingerprint: key.fingerprint, progress: progress,
                hasPasswordKey: key.password != nil))
    }

    /// The statement that registers the new keys; its purpose names the key for the password.
    private func statement(
        of new: NewKeys, begun: RelayRegistration, snapshot: AccountSnapshot,
        confirmation: Confirmation
    ) -> LoginStatement {
        var statement = keys.statement(
            begun.challenge, action: LoginAction.register, factor: confirmation.factor,
            key: new.key, enrolment: snapshot.enrolment)
        if let password = new.password?.key {
            statement.purpose = PasswordKeyPurpose.text(password.publicKey.point)
        }
        return statement
    }

    /// Has each of the new keys sign the statement that registers them.
    private func proof(
        of new: NewKeys, statement: LoginStatement, url: CanonicalServerURL,
        snapshot: AccountSnapshot, confirmation: Confirmation
    ) async throws(VaultError) -> RelayProof {
        let key = new.key
        guard let sealed = key.sealed(for: snapshot.enrolment.state) else { throw .doesNotOpen }
        let signature = try await keys.registrationSignature(
            statement, with: sealed, in: key.vault, context: new.context,
            publicKey: key.publicKey, for: confirmation)
        var passwordKey: RelayPasswordKey?
        if let password = new.password {
            passwordKey = RelayPasswordKey(
                publicKey: password.key.publicKey.point,
                signature: try await keys.registrationSignature(
                    statement, with: password.key.sealed, in: password.key.vault,
                    context: password.context, publicKey: password.key.publicKey,
                    for: confirmation))
        }
        return RelayProof(
            server: ServerURL(url), registration: key.registration,
            publicKey: key.publicKey.point, statement: statement.encoded(), signature: signature,
            passwordKey: passwordKey)
    }
}

extension Confirmation {
    /// The account's entry in shadow(5) from before its password was verified; nil for a touch.
    var shadowEntry: ShadowEntry? {
        switch self {
        case .finger: nil
        case .password(let proof): proof.verified.entry
        }
    }
}

extension ServerKey {
    /// Throws `noPasswordKey` before a password is asked for that could open nothing.
    func check(_ factor: ConfirmingFactor) throws(Denial) {
        guard factor == .finger || password != nil else {
            throw Denial(.noPasswordKey, subject: server.bytes)
        }
    }
}

extension Servers {
    /// Gives up a key whose registration did not complete here.
    ///
    /// If its server may know the key, a removal begins; otherwise the key is deleted.
    private func giveUp(
        _ key: ServerKey, after answer: RelayAnswer, account: Account, servers: ServerStore
    ) {
        do throws(StoreFault) {
            // The fingers may have changed meanwhile, or another activation may have completed
            // first.
            guard let now = try servers.key(key.identifier), now.state == .proving else { return }
            guard answer.leavesDoubtOfProof else { return try servers.remove(now) }
            _ = try servers.beginRemoval(now)
            removals.want()
        } catch { journal.fault(error.description, account: account.name) }
    }
}

extension RelayAnswer {
    /// Whether the server may have accepted the key that was proved to it.
    fileprivate var leavesDoubtOfProof: Bool {
        switch self {
        case .unreachable(_, let isRepeatable, _): !isRepeatable
        case .refused(let code, _, _): code == Bytes(ServerProblem.unavailable.rawValue.utf8)
        case .registered, .proven, .challenge, .loggedIn, .removed, .macToken, .awaited, .listed,
            .operation, .decided, .requirements, .attestation, .session,
            .sessionsListed, .sessionsEnded:
            true
        }
    }
}

extension SignedMatter {
    /// The matter of a receipt for a touch that allowed the use of a sealed key.
    init(purpose: Bytes, challenge: Challenge) {
        self.init(
            namespace: .secret, challenge: challenge, service: .signet,
            terminal: [], purpose: Bytes(purpose.prefix(Limit.purpose)))
    }
}

extension ServerAnswer {
    init(_ key: ServerKey) {
        let state: ServerKeyState =
            switch key.state {
            // Keys whose registration is in progress are not listed.
            case .good, .proving: .good
            case .invalidated: .invalidated
            case .removing: .removing
            }
        self.init(
            account: key.account, since: key.created.seconds, state: state, server: key.server,
            application: key.application, fingerprint: key.fingerprint,
            hasPasswordKey: key.password != nil, deviceName: key.deviceName)
    }
}

extension ServerKey {
    /// The key's fingerprint as `ssh-keygen -l` shows it; empty if hashing failed.
    var fingerprint: Bytes {
        guard let digest = try? SHA256.digest(publicKey.blob) else { return [] }
        return Bytes("SHA256:".utf8)
            + Base64.encode(digest, alphabet: .standard).filter { $0 != UInt8(ascii: "=") }
    }
}
