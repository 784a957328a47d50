// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Gate
import LoginProtocol
import MainContext
import Posix
import SignedFormats
import State

/// Serves logins on this machine, which take two steps: a touch signs the caller's challenge, and
/// the caller then confirms the result.
///
/// `authenticate` answers with an assertion, that is, the signed statement about the login. The
/// caller verifies it with the account's public key and sends `confirm`; only the answer to that
/// lets the user in. If the request names a server, its approval is needed as well, and the
/// server's proof is part of the assertion.
///
/// The daemon decides who may ask, whether the requester is at the machine, and whether a finger
/// matched. With the confirmation it may release the login password for the keyring, if the service
/// is allowed to receive it (`Keyring`).
@ServiceActor
final class PAMLogins {
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
    let pendingChanges: PendingFingerChanges

    init(
        afterAnswers: AfterAnswers, clock: Clock, examiner: PresenceExaminer,
        gate: TouchGate<ReaderPool>, journal: DecisionJournal, settings: Configuration,
        state: StateDirectory, accounts: Accounts, credentials: Credentials, keyring: Keyring,
        serverLogins: ServerLogins, sessionTokens: SessionTokens, guards: TouchGuards,
        touches: Touches, pendingChanges: PendingFingerChanges
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
        self.pendingChanges = pendingChanges
    }
}

extension PAMLogins {
    /// The handlers for logins, their confirmation, the enrolment notice and `signet verify`.
    var handlers: [RequestHandler] {
        [
            RequestHandler(authenticate), RequestHandler(confirm), RequestHandler(offer),
            RequestHandler(verify),
        ]
    }

    /// Serves a login up to the signed assertion.
    ///
    /// Root or the account itself may ask. The guards of a login are checked first
    /// (`TouchGuards.admit`), then whether the server can be asked, if one is named. The number of
    /// tries and the timeout in the request are limited by the administrator's settings. If a
    /// server has to be asked after the touch, the time for its answer is taken from the time to
    /// wait for a finger.
    ///
    /// The assertion grants nothing until the caller has confirmed it; see `confirm`. Throws the
    /// denial of the first guard that does not pass, of the touch, or of the server.
    func authenticate(
        _ request: AuthenticateRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        var request = request
        if client.peer.uid != 0 { request.dropCommand() }
        var plan = plan(request, account: account)
        let presence = try await guards.admit(plan, client: client)
        if client.peer.uid != 0 {
            request.dropTerminal(unless: presence.terminal)
            plan.login = request
        }
        try pendingChanges.check(request, account: account, requester: presence.requester)
        guard let server = try await serverLogins.loginAtServer(request, account: account) else {
            return try await authenticateHere(
                plan, presence: presence, request: request, client: client)
        }
        let whole = plan.timeout
        plan.timeout = server.touchTime(of: whole)
        return try await authenticate(
            plan, presence: presence, request: request, at: server, within: whole, client: client)
    }

    /// How much longer than the user's time the module certainly waits.
    private static let moduleMargin = Duration.seconds(1)
    /// After how long the module knows that it waits for the TPM.
    private static let announcement = Duration.seconds(1)

    /// The time since boot until which the module certainly waits.
    ///
    /// What a slow TPM has taken for the signature is neither the user's time nor a server's.
    private func end(of proof: TouchProof, within whole: Duration) -> Duration {
        let age = proof.touch.match.age
        return proof.touch.asked + whole + (age > Self.announcement ? age : .zero)
    }

    /// Serves a login that needs no server.
    ///
    /// The reader stays held until the confirmation has ended. Throws `suspending` if the machine
    /// began to sleep after the touch; the assertion is not sent then.
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
        ) { snapshot in
            opensKeyring ? keyring.keyringItem(account, snapshot: snapshot, client: client) : nil
        }
        let password = await keyring.passwordToRelease(
            proof, account: account,
            within: end(of: proof, within: plan.timeout) + Self.moduleMargin - clock.sinceBoot())
        if touches.hasSlept(since: proof) { throw Denial(.suspending) }
        do throws(Denial) {
            // A change may have begun while the finger was awaited.
            try pendingChanges.check(request, account: account, requester: presence.requester)
        } catch {
            proof.touch.attempt.takeBack()
            throw error
        }
        awaitConfirmation(
            PendingConfirmation(
                of: proof, account: account, request: request, presence: presence,
                password: password, held: held), client: client)
        return .assertion(proof.assertion)
    }

    /// Serves a login that needs the approval of a server as well.
    ///
    /// The reader is free again before the server is asked, and another touch of the account may
    /// append its receipt meanwhile; the receipt of this login then counts as granted. Nothing slow
    /// but the TPM's signature happens between the touch and the request to the server, so that all the remaining time is
    /// available for its answer.
    ///
    /// If the server refuses, the assertion carries the refusal and cannot be confirmed. If it
    /// approves, the login is denied nevertheless if fingers, credential or key have changed while
    /// it was asked; the access token that the server issued for the session is deleted then.
    ///
    /// - Parameter whole: how long touch and answer may take together, from the request for a finger.
    func authenticate(
        _ plan: TouchPlan, presence: Presence, request: AuthenticateRequest,
        at server: LoginAtServer, within whole: Duration, client: any Client
    ) async throws(Denial) -> Answer {
        let account = plan.account
        let opensKeyring = keyring.mayHavePassword(
            request, presence: presence, account: account, client: client)
        let proof = try await touches.settledTouch(
            plan, presence: presence, matter: SignedMatter(request, server: server), client: client
        ) { snapshot in
            opensKeyring ? keyring.keyringItem(account, snapshot: snapshot, client: client) : nil
        }
        let end = end(of: proof, within: whole)
        proof.place.mayBeFollowed { [self] fault in
            _ = accounts.denial(for: fault, account: account)
        }
        // Open the password now: another request could reseal it while the server is asked.
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
            try pendingChanges.check(request, account: account, requester: presence.requester)
            // Checking the password has taken time too, so look for changes again.
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

    /// Returns the plan for a login: tries and timeout as requested, within the administrator's
    /// settings.
    ///
    /// A request can only lower `touch.max-tries` and `touch.timeout`.
    func plan(_ request: AuthenticateRequest, account: Account) -> TouchPlan {
        TouchPlan(
            rule: .login, account: account,
            tries: min(Int(request.maximumTries), settings.count(Settings.touchTries)),
            timeout: guards.touchTime(request.timeoutMilliseconds), login: request)
    }
}

extension AuthenticateRequest {
    /// Removes the description and the digest of the command line, which would be signed.
    ///
    /// Only programs that run as root, such as sudo, are trusted to state them truthfully.
    fileprivate mutating func dropCommand() {
        purpose = []
        commandDigest = []
    }

    /// Removes the terminal, which would be signed, unless it is the one that controls the program.
    ///
    /// PAM_TTY is what the application says; only of programs that run as root it is believed.
    fileprivate mutating func dropTerminal(unless actual: Bytes) {
        let device = Bytes("/dev/".utf8)
        let name = terminal.starts(with: device) ? Bytes(terminal.dropFirst(5)) : terminal
        if name != actual { terminal = [] }
    }
}

extension SignedMatter {
    /// The part of the login statement that the request determines.
    fileprivate init(_ request: AuthenticateRequest, server: LoginAtServer?) {
        self.init(
            namespace: .login, challenge: request.challenge, service: request.service,
            terminal: request.terminal, purpose: request.purpose,
            command: request.commandDigest, server: server?.lines)
    }
}
