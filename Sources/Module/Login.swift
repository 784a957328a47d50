// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import Domain
import LoginMessages
import LoginProtocol
import ModuleOptions
import SignedFormats

/// One login: the account, the service, the terminal and what a touch would authorise.
///
/// `prove` is the whole of pam_sm_authenticate. It returns only if the daemon sent a statement
/// about exactly this login, signed by the account's registered key over a challenge of 32 random
/// bytes made here, if the server's verdict (with `server=`) is valid as well, and if the daemon
/// then confirmed the proof. The names come from the application, which may be unprivileged, and
/// need not be UTF-8.
final class Login {
    let account: AccountName
    let uid: UInt32
    let service: ServiceName
    /// This process's controlling terminal, as the application named it; empty if it named none, or
    /// another one.
    let terminal: Bytes
    let requester: AccountName
    /// The text of the command that a touch authorises.
    ///
    /// Empty if the service has none; nil if it should have one but cannot be shown whole.
    private let command: Bytes?
    /// The purpose that is sent to the daemon and must appear in the statement.
    var purpose: Bytes { command ?? [] }
    /// Whether the command would be known, but is too long to be shown whole.
    private let isTooLong: Bool
    /// Whether sudo was told not to prompt on the terminal.
    let asksElsewhere: Bool
    /// The polkit agent that asks through polkit's helper; nil for every other service.
    let agent: Agent?

    /// How often a process may be stopped and continued during one login.
    private static let maximumStops = 100

    /// Authenticates the user, and returns only if that succeeded.
    ///
    /// It blocks the application for up to the `timeout=` of the stack's line once the daemon has
    /// answered, for up to three times as long before that, and again after each stop. It stores on
    /// the PAM handle what `SetCredentials` needs to know later.
    ///
    /// - Throws: every other outcome, including a password typed instead of a touch.
    static func prove(
        to application: inout Application, arguments: [Bytes]
    ) throws(LoginFailure) {
        try application.keep([])
        let options = try read(arguments)
        if options.offer { try application.keep([], as: Application.Record.offer) }
        application.debug = options.debug
        application.isQuiet = options.prompt == .off
        application.trace(Text(escaping: ModuleVersion.mark.bytes))
        guard options.waits(for: try application.service()) else {
            return try proveOnce(to: &application, options: options)
        }
        var patience = Patience()
        try patience.prove(to: &application, options: options)
    }

    /// Authenticates the user in one attempt, as `prove` does for all but lock screens.
    @inline(never)
    static func proveOnce(
        to application: inout Application, options: ModuleOptions
    ) throws(LoginFailure) {
        try Login(of: application).prove(to: &application, options: options)
    }

    private func prove(
        to application: inout Application, options: ModuleOptions
    ) throws(LoginFailure) {
        let registration: RegisteredKey.Registration
        do throws(LoginFailure) {
            registration = try RegisteredKey.look(for: account, uid: uid) { name in
                application.lookUp(name)?.name == name
            }
        } catch {
            if case .declined = error {
                try Offer.note(self, application: application, options: options)
            }
            throw error
        }
        let server = try ServerLogin.look(
            options.server, for: SystemAccount(name: account, uid: uid), application: application)
        // From here on the daemon may count failures towards a lockout, which a password lifts.
        try application.keep(account.bytes)
        let place = try PromptContext(of: self, application: application, options: options)
        application.isAttended = place.presence == .foreground
        application.screen = place.screen
        guard command != nil else {
            throw .unavailable(
                "the command line cannot be shown whole",
                shown: isTooLong ? Prompt.tooLong : Prompt.unclear)
        }
        // `delay=` gives users of a greeter time to type; our own password line makes it
        // needless.
        if place.terminal == nil { _ = Deadline.passes(in: options.delayMilliseconds) }
        // A program that blocks SIGTSTP never stops, so the number of rounds is limited.
        var stops = 0
        repeat {
            do throws(LoginFailure) {
                try attempt(
                    application, options: options, registration: registration, server: server,
                    place: place)
                return try application.keep([])
            } catch .suspended {
                application.trace("suspended, and continued")
                stops += 1
            }
        } while place.isForeground && stops < Login.maximumStops
        throw .declined("the process is in the background, or did not stop when told to")
    }

    /// Collects the login's data; throws `.declined` if the module must not act.
    private init(of application: Application) throws(LoginFailure) {
        guard try application.item(PAM_RHOST).isEmpty else {
            throw .declined("the session is remote")
        }
        // The same outcome as for an account without a finger, so that account names cannot be
        // probed.
        guard let found = try application.account() else {
            throw .declined("the account does not exist")
        }
        (account, uid) = (found.name, found.uid)
        service = try application.service()
        let named = Login.label(try application.item(PAM_TTY))
        terminal = ControllingTerminal.open(named: named, toRead: false) == nil ? [] : named
        requester = AccountName(
            Login.label(try application.item(PAM_RUSER), cap: Limit.account))
        agent = StaticString("polkit-1").bytes == service.bytes ? Agent.find() : nil
        // An unprivileged program controls its own command line, which therefore proves nothing.
        guard geteuid() == 0,
            let program = application.isSudo ? .sudo : Login.program(of: service)
        else {
            (command, isTooLong, asksElsewhere) = ([], false, false)
            return
        }
        let confirmed = ConfirmedCommand(
            ProgramCall.ofThisProcess, of: program,
            in: .ofThisProcess(application, account: account, requester: requester))
        command = confirmed.purpose
        (isTooLong, asksElsewhere) = (confirmed.isTooLong, confirmed.asksElsewhere)
    }

    /// The program behind a service, if its command line says what a touch would authorise.
    private static func program(of service: ServiceName) -> ConfirmingProgram? {
        let isSu = ["su", "su-l"].contains { (name: StaticString) in name.bytes == service.bytes }
        if isSu { return .su }
        return StaticString("doas").bytes == service.bytes ? .doas : nil
    }

    /// Whether the command line says what a touch would authorise.
    private var hasCommand: Bool { command?.isEmpty == false }

    private static func read(_ arguments: [Bytes]) throws(LoginFailure) -> ModuleOptions {
        do throws(ModuleOptions.Fault) {
            return try Application.options(arguments)
        } catch {
            switch error {
            case .unknown(let index), .malformed(let index), .repeated(let index):
                throw .badOption(index < arguments.count ? arguments[index] : [])
            }
        }
    }

    /// Returns a descriptive text for the request, or nothing if it exceeds the limit.
    private static func label(_ text: Bytes, cap: Int = Limit.label) -> Bytes {
        text.count <= cap ? text : []
    }
}

extension Login {
    /// Makes one attempt: connects, sends a fresh challenge, awaits the answer and checks it.
    ///
    /// It throws `.suspended` if the user pressed Ctrl-Z at the password line and has come back;
    /// the caller may then try again, on a new connection with a new challenge.
    private func attempt(
        _ application: Application, options: ModuleOptions,
        registration: RegisteredKey.Registration, server: ServerLogin?, place: PromptContext
    ) throws(LoginFailure) {
        let begun = Deadline(milliseconds: 0)
        var dialogue = Dialogue(
            application, login: self, milliseconds: options.timeoutSeconds * 1_000, place: place)
        // This runs after the connection is closed, so no touch is awaited while the process is
        // stopped.
        defer { dialogue.end() }
        var verifier: Verifier?
        var digest: Bytes = []
        // The request contains the digest, so libcrypto must be loaded first; otherwise it is
        // loaded while the finger is awaited.
        if hasCommand, case .key(let registered) = registration {
            verifier = Verifier.open(registered.key)
            guard let found = verifier?.digestOfCommandLine() else {
                throw .silent("the command line could not be hashed")
            }
            digest = found
        }
        let daemon = try ModuleConnection.open(options.socket)
        let challenge = try Login.freshChallenge()
        let request = request(
            challenge, digest: digest, options: options, server: server, place: place)
        try daemon.send(try? LoginRequest.authenticate(request))
        var servers: Verifier?
        let assertion = try dialogue.assertion(from: daemon) {
            guard case .key(let registered) = registration else { return }
            if !hasCommand { verifier = Verifier.open(registered.key) }
            servers = server?.verifier()
        }
        guard case .key(let registered) = registration else {
            throw .refused("a proof arrived, but no key is registered")
        }
        var confirmation = FinalCheck(of: self, deadline: dialogue.deadline)
        // Signals that were held back take effect here. If one stops the process, the confirmation
        // below comes too late.
        dialogue.end()
        // A touch made after the process went to the background was meant for another program.
        guard !place.wasLeft else {
            throw .declined("the process has gone to the background")
        }
        guard let verifier else {
            throw .silent("libcrypto.so.3 or the key cannot be used")
        }
        let statement = try check(
            assertion, request: request, registered: registered, server: server, verifier: verifier)
        try server?.check(
            assertion.server, for: statement, of: account, challenge: challenge, verifier: servers)
        var password = try confirmation.ask(daemon, about: request)
        try confirmation.checkLast(
            statement, registered: registered, place: place,
            // A TPM may have taken more time than the user, but the challenge is not older than this.
            seconds: max(options.timeoutSeconds, begun.secondsPassed))
        try server?.handOn(assertion.server, uid: uid, application: application)
        if var password = password.take() { try application.setPassword(&password) }
    }

    private static func freshChallenge() throws(LoginFailure) -> Challenge {
        var bytes = Bytes(repeating: 0, count: Challenge.count)
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe getrandom(bytes.baseAddress, bytes.count, UInt32(GRND_NONBLOCK))
        }
        guard count == bytes.count else {
            throw .silent("random numbers are not available yet")
        }
        return Challenge(random: bytes)
    }

    private func request(
        _ challenge: Challenge, digest: Bytes, options: ModuleOptions, server: ServerLogin?,
        place: PromptContext
    ) -> AuthenticateRequest {
        AuthenticateRequest(
            account: account, challenge: challenge, service: service, terminal: terminal,
            requester: requester, purpose: purpose,
            timeoutMilliseconds: options.timeoutSeconds * 1_000,
            maximumTries: options.maximumTries,
            wantsKeyring: options.keyring && geteuid() == 0,
            presence: place.presence, background: options.background(for: service),
            commandDigest: digest, agent: agent?.process, agentUser: agent?.user,
            server: server?.request)
    }

    /// Returns the statement if it is about exactly this login and signed by the registered key.
    ///
    /// - Throws: `.refused` with the first check that fails, in this order: the statement's form,
    ///   its contents, the signature's form, key, namespace, and ECDSA.
    private func check(
        _ assertion: Assertion, request: AuthenticateRequest, registered: RegisteredKey,
        server: ServerLogin?, verifier: Verifier
    ) throws(LoginFailure) -> Statement {
        guard let statement = try? Statement(parsing: assertion.statement) else {
            throw .refused("the statement is malformed")
        }
        let expected = Expectation(
            audience: Audience.local, account: account, uid: uid, requester: requester,
            challenge: request.challenge, service: service, terminal: terminal, purpose: purpose,
            command: request.commandDigest, credential: registered.credential,
            server: server?.expectation)
        guard expected.mismatch(with: statement) == nil else {
            throw .refused("the statement is not about this login")
        }
        guard let signature = try? SSHSignature(blob: assertion.signature) else {
            throw .refused("the signature is malformed")
        }
        guard signature.publicKey == registered.key else {
            throw .refused("the signature was made with another key")
        }
        guard signature.namespace == SignatureNamespace.login.bytes else {
            throw .refused("the signature is for another purpose")
        }
        guard verifier.verifies(signature, of: assertion.statement) else {
            throw .refused("the signature does not verify")
        }
        return statement
    }
}
