// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Gate
import LoginProtocol
import MainContext
import Posix
import SignedFormats
import State

/// Logins on this machine: a touch signs the caller's challenge, and the result takes effect once
/// the caller has confirmed it.
///
/// If the request names a server, that server has to approve the login as well. The answer is an
/// assertion; `confirm` turns it into a login, and releases the login password for the keyring if
/// the service may have it.
@ServiceActor
final class Logins {
    let afterAnswers: AfterAnswers
    let clock: Clock
    let examiner: PresenceExaminer
    let gate: TouchGate<ReaderPool>
    let journal: DecisionJournal
    let settings: Configuration
    let state: StateDirectory
    let accounts: Accounts
    let credentials: Credentials
    let keyring: Keyring
    let serverLogins: ServerLogins
    let sessionTokens: SessionTokens
    let guards: TouchGuards
    let touches: Touches

    init(
        afterAnswers: AfterAnswers, clock: Clock, examiner: PresenceExaminer,
        gate: TouchGate<ReaderPool>, journal: DecisionJournal, settings: Configuration,
        state: StateDirectory, accounts: Accounts, credentials: Credentials, keyring: Keyring,
        serverLogins: ServerLogins, sessionTokens: SessionTokens, guards: TouchGuards,
        touches: Touches
    ) {
        self.afterAnswers = afterAnswers
        self.clock = clock
        self.examiner = examiner
        self.gate = gate
        self.journal = journal
        self.settings = settings
        self.state = state
        self.accounts = accounts
        self.credentials = credentials
        self.keyring = keyring
        self.serverLogins = serverLogins
        self.sessionTokens = sessionTokens
        self.guards = guards
        self.touches = touches
    }
}

extension Logins {
    var handlers: [RequestHandler] {
        [
            RequestHandler(authenticate), RequestHandler(confirm), RequestHandler(offer),
            RequestHandler(verify),
        ]
    }

    /// Serves a login up to the signed assertion.
    ///
    /// The assertion takes effect only when the caller has confirmed it; see `confirm`. Throws the
    /// denial of the first guard that does not pass, or of the touch.
    func authenticate(
        _ request: AuthenticateRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        var request = request
        if client.peer.uid != 0 { request.dropCommand() }
        var plan = plan(request, account: account)
        let end = plan.end
        let presence = try await guards.admit(plan, client: client)
        guard let server = try await serverLogins.loginAtServer(request, account: account) else {
            return try await authenticateHere(
                plan, presence: presence, request: request, client: client)
        }
        plan.timeout = server.touchTime(of: plan.timeout)
        plan.end = end - guards.touchTime(request.timeoutMilliseconds) + plan.timeout
        return try await authenticate(
            plan, presence: presence, request: request, at: server, until: end, client: client)
    }

    /// A login that needs no server. The reader stays held until the confirmation has ended.
    private func authenticateHere(
        _ plan: TouchPlan, presence: Presence, request: AuthenticateRequest,
        client: any Client
    ) async throws(Denial) -> Answer {
        let account = plan.account
        let signing = try await touches.signingTurn(plan, presence: presence, client: client)
        let slot = signing.slot
        let held = HeldTurn(signing.turn)
        let opensKeyring = keyring.mayHavePassword(
            request, presence: presence, account: account, client: client)
        let proof = try await touches.touch(
            plan, presence: presence, matter: SignedMatter(request, server: nil), during: held.turn,
            in: slot, client: client
        ) { standing in
            opensKeyring ? keyring.keyringItem(account, standing: standing, client: client) : nil
        }
        let password = await keyring.passwordToRelease(proof, account: account)
        if touches.hasSlept(since: proof) { throw Denial(.suspending) }
        awaitConfirmation(
            PendingConfirmation(
                of: proof, account: account, request: request, presence: presence,
                password: password, held: held), client: client)
        return .assertion(proof.assertion)
    }

    /// A login that a server has to approve as well.
    ///
    /// Nothing that takes time happens between the touch and the request to the server, so that all
    /// the remaining time is available for its answer. The reader is free again before the server
    /// is asked.
    func authenticate(
        _ plan: TouchPlan, presence: Presence, request: AuthenticateRequest,
        at server: LoginAtServer, until end: Duration, client: any Client
    ) async throws(Denial) -> Answer {
        let account = plan.account
        let opensKeyring = keyring.mayHavePassword(
            request, presence: presence, account: account, client: client)
        let proof = try await touches.settledTouch(
            plan, presence: presence, matter: SignedMatter(request, server: server), client: client
        ) { standing in
            opensKeyring ? keyring.keyringItem(account, standing: standing, client: client) : nil
        }
        proof.place.mayBeFollowed { [self] fault in
            _ = accounts.denial(for: fault, account: account)
        }
        // Opened now, before another request can seal it anew.
        let opened = keyring.openedPassword(proof, account: account)
        let said = try await serverLogins.serverProof(
            server, request: request, account: account, proof: proof, until: end, client: client)
        var assertion = proof.assertion
        assertion.server = said.proof
        guard said.isYes else { return .assertion(assertion) }
        var password: SecretBytes?
        if let opened {
            password = await keyring.passwordToRelease(
                opened, account: account, kept: proof.kept,
                within: serverLogins.timeLeft(until: end))
        }
        do throws(Denial) {
            // The password trial took time as well, so check again for changes by others.
            try serverLogins.checkChanges(since: proof, login: server, account: account)
        } catch {
            if said.proof.hasTokenFile {
                sessionTokens.forgetToken(of: account, from: server.key.server)
            }
            throw error
        }
        awaitConfirmation(
            PendingConfirmation(
                of: proof, account: account, request: request, presence: presence,
                password: password, server: server), client: client)
        return .assertion(assertion)
    }

    /// The plan for a login: tries and timeout as requested, but within the administrator's
    /// settings.
    func plan(_ request: AuthenticateRequest, account: Account) -> TouchPlan {
        let timeout = guards.touchTime(request.timeoutMilliseconds)
        return TouchPlan(
            rule: .login, account: account,
            tries: min(Int(request.maximumTries), settings.count(Settings.touchTries)),
            timeout: timeout, end: clock.sinceBoot() + timeout, login: request)
    }
}

extension AuthenticateRequest {
    /// Removes the command line, which is signed. Only programs that run as root are trusted to
    /// state it truthfully.
    fileprivate mutating func dropCommand() {
        purpose = []
        commandDigest = []
    }
}

extension SignedMatter {
    fileprivate init(_ request: AuthenticateRequest, server: LoginAtServer?) {
        self.init(
            namespace: .login, challenge: request.challenge, service: request.service,
            terminal: request.terminal, purpose: request.purpose,
            command: request.commandDigest, server: server?.lines)
    }
}
