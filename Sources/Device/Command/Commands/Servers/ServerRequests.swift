// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Authorization
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix
import SignedFormats

/// Operations on servers that several commands use.
struct ServerRequests {
    let run: Invocation

    /// `signet enable --server URL`
    func enableServer() throws(CommandFault) {
        let server = try server(run.arguments.value(.server))
        let name = try deviceName()
        let account = try run.account()
        // The daemon checks this too; checking here spares the user from typing the code and
        // password.
        let known = try servers(of: account)
        guard !known.contains(where: { $0.server == server && $0.state == .good }) else {
            throw .denied(Denial(.knownServer, subject: server.bytes), account: account)
        }
        var code = try activationCode(server)
        defer { wipe(&code) }
        let factor: ConfirmingFactor = run.arguments.has(.password) ? .password : .finger
        let request = ServerEnableRequest(
            account: account, server: server, code: code, factor: factor, deviceName: name)
        let enabled = try ask(
            .serverEnable(request), purpose: { ServerMessages.enabling($0, server: server) },
            byPassword: factor == .password
                ? ServerMessages.enablingByPassword(server: server) : nil
        ) { answer in
            if case .serverEnabled(let enabled) = answer { enabled } else { nil }
        }
        let document = JSON.document(
            "registered",
            members: [
                ("account", .bytes(account.bytes)), ("server", .bytes(server.bytes)),
                ("name", .bytes(enabled.account.bytes)),
                ("application", .bytes(enabled.application.bytes)),
                ("fingerprint", .bytes(enabled.fingerprint)),
                ("pending", .bool(enabled.progress == .pendingCommit)),
                ("password", .bool(enabled.hasPasswordKey)),
                ("deviceName", .optional(name) { .bytes($0.bytes) }),
            ])
        let key =
            enabled.progress == .pendingCommit
            ? ServerMessages.pending(enabled.fingerprint) : ServerMessages.key(enabled.fingerprint)
        let done = ServerMessages.enabled(
            server, as: enabled.account, application: enabled.application)
        run.say(
            document,
            [done] + (name.map { [ServerMessages.named($0)] } ?? []) + [key]
                + (enabled.hasPasswordKey ? [ServerMessages.passwordToo] : []))
    }

    /// What this device calls itself at a server: `--name`, or else the machine's name, as far as
    /// that can be one.
    private func deviceName() throws(CommandFault) -> DeviceName? {
        guard let typed = run.arguments.value(.name) else {
            return DeviceName(ofMachine: run.environment.machineName())
        }
        guard let name = DeviceName(Bytes(typed.utf8)) else {
            throw .usage(ServerMessages.badName(typed.bytes))
        }
        return name
    }

    /// `signet enable --server URL --password-key`
    func replacePasswordKey() throws(CommandFault) {
        let server = try server(run.arguments.value(.server))
        let account = try run.account()
        // Check this before the user types a password.
        guard try servers(of: account).contains(where: { $0.server == server }) else {
            throw .denied(Denial(.unknownServer, subject: server.bytes), account: account)
        }
        _ = try ask(
            .serverPasswordKey(account: account, server: server),
            purpose: { ServerMessages.makingPasswordKey($0, server: server) }
        ) { answer in
            if case .done(let done) = answer { done } else { nil }
        }
        run.say(
            .document(
                "password-key",
                members: [
                    ("account", .bytes(account.bytes)), ("server", .bytes(server.bytes)),
                ]), [ServerMessages.passwordKeyMade(server)])
    }

    /// `signet disable --server URL`
    func disableServer() throws(CommandFault) {
        let server = try server(run.arguments.value(.server))
        let account = try run.account()
        // Check this before the user types a password.
        guard try servers(of: account).contains(where: { $0.server == server }) else {
            throw .denied(Denial(.unknownServer, subject: server.bytes), account: account)
        }
        let done = try ask(
            .serverDisable(account: account, server: server), awaitsTouch: false,
            purpose: { _ in "" }
        ) { answer in
            if case .done(let done) = answer { done } else { nil }
        }
        let isKnown = done.state == CredentialState.none
        let text =
            switch done.state {
            case CredentialState.none?: ServerMessages.disabled(server)
            case .invalidated: ServerMessages.dropped(server)
            case .disabled, .valid, nil: ServerMessages.disabledLater(server)
            }
        run.say(
            .document(
                "unregistered",
                members: [
                    ("account", .bytes(account.bytes)), ("server", .bytes(server.bytes)),
                    ("serverKnows", .bool(isKnown)),
                ]), [text])
    }

    /// Lists the servers at which an account is registered.
    func servers(of account: AccountName) throws(CommandFault) -> [ServerAnswer] {
        try run.collect(.serverList(account: account)) { answer in
            if case .server(let server) = answer { server } else { nil }
        }
    }

    /// Sends a request that ends with one answer, and returns the value in it.
    ///
    /// - Parameter purpose: formats the touch prompt, given the instruction for the reader.
    /// - Parameter byPassword: what the password is for, if it confirms the request in place of a
    ///   touch; nil for a touch.
    /// - Parameter alternative: whether the user could confirm the request with the password, which
    ///   is said after a finger has failed.
    /// - Parameter details: lines below the touch prompt.
    /// - Parameter meanwhile: accepts answers before the last one, by returning true.
    /// - Parameter value: extracts the value from the last answer.
    ///
    /// Notices are printed on standard error.
    func ask<Value>(
        _ request: Request, awaitsTouch: Bool = true, awaitsServer: Bool = true,
        purpose: (Text) -> Text, byPassword: Text? = nil, alternative: Bool = false,
        details: [Text] = [],
        meanwhile: (Answer) throws(CommandFault) -> Bool = { _ in false },
        _ value: (Answer) -> Value?
    ) throws(CommandFault) -> Value {
        var exchange = run.exchange(request, awaitsTouch: awaitsTouch)
        exchange.awaitsServer = awaitsServer
        exchange.passwordPurpose = byPassword
        do throws(CommandFault) {
            return try answer(
                to: exchange, purpose: purpose, details: details, meanwhile: meanwhile, value)
        } catch .denied(let denial, let account) {
            if byPassword == nil, alternative, denial.isAboutFinger, !run.isJSON {
                let text = denial.text(account: account)
                run.environment.complain("\(InvocationMessages.program)\(text)")
                run.environment.complain(ServerMessages.passwordInstead)
                throw .said(denial.exitCode)
            }
            // The usual text is about fingers, and advises the password.
            if byPassword != nil, denial.reason == .lockedForNow {
                throw .refused(ServerMessages.passwordPaused(seconds: denial.seconds ?? 0))
            }
            if byPassword != nil, denial.reason == .serverRefused,
                UnmetRequirement(code: denial.subject) == .factor
                    || denial.subject == Bytes(ServerProblem.policy.rawValue.utf8)
            {
                throw .refused(ServerMessages.passwordRefused)
            }
            throw .denied(denial, account: account)
        }
    }

    private func answer<Value>(
        to exchange: DaemonExchange, purpose: (Text) -> Text, details: [Text],
        meanwhile: (Answer) throws(CommandFault) -> Bool, _ value: (Answer) -> Value?
    ) throws(CommandFault) -> Value {
        var result: Value?
        try exchange.run { (answer) throws(CommandFault) in
            if case .notice(let notice) = answer {
                let text = notice.kind == .touch ? purpose(Prompt.action(notice)) : notice.text
                if let text { run.environment.complain(text) }
                if notice.kind == .touch { details.forEach(run.environment.complain) }
                return .goOn
            }
            if try meanwhile(answer) { return .goOn }
            guard let found = value(answer) else { throw .fault(CommonMessages.unexpected) }
            result = found
            return .finished
        }
        guard let result else { throw .interrupted }
        return result
    }

    /// Returns a server's URL in normal form; throws `.usage` if it is invalid.
    func server(_ typed: String?) throws(CommandFault) -> ServerURL {
        let typed = typed ?? ""
        guard let url = CanonicalServerURL(typed: typed) else {
            throw .usage(ServerMessages.badURL(typed.bytes))
        }
        return ServerURL(url)
    }

    /// Reads the activation code, from the terminal or as a line of standard input.
    ///
    /// A code with a wrong check character is rejected here and not sent.
    private func activationCode(_ server: ServerURL) throws(CommandFault) -> Bytes {
        let isTyped = isTerminal(run.environment.input) && !run.arguments.has(.passwordStdin)
        var typed =
            isTyped
            ? try HiddenInput.code.typed(
                after: ServerMessages.codePrompt(server), in: run.environment)
            : try HiddenInput.code.read(
                from: run.environment.input, interrupts: run.environment.interrupts)
        defer { wipe(&typed) }
        do throws(ActivationCodeFault) {
            return try ActivationCode(typed: typed).text
        } catch { throw .refused(ServerMessages.mistyped) }
    }
}

extension Denial {
    /// Whether a finger could not be used, so that the password may help.
    fileprivate var isAboutFinger: Bool {
        switch reason {
        case .noMatch, .timedOut, .noReader, .readerRemoved, .readerFailed, .readerTooHot,
            .lockedUntilPassword, .lidClosed:
            true
        default: false
        }
    }
}

extension ServerAnswer {
    /// The server in JSON.
    var document: JSON {
        .object([
            ("server", .bytes(server.bytes)), ("name", .bytes(account.bytes)),
            ("application", .bytes(application.bytes)), ("state", .string(state.word)),
            ("since", JSON.instant(since)), ("fingerprint", .bytes(fingerprint)),
            ("password", .bool(hasPasswordKey)),
            ("deviceName", .optional(deviceName) { .bytes($0.bytes) }),
        ])
    }
}

extension HiddenInput {
    fileprivate static let code = HiddenInput(
        limit: Limit.code, noTerminal: .refused(ServerMessages.noTerminal),
        missing: .refused(ServerMessages.noCode), tooLong: .refused(ServerMessages.mistyped))
}

/// Messages of the commands about servers.
enum ServerMessages {
    /// The prompt for the code.
    static func codePrompt(_ server: ServerURL) -> Text {
        "Activation code for \(server): "
    }

    /// The code cannot be prompted for.
    static let noTerminal: Text =
        "there is no terminal on which to ask for the activation code. Give it on standard input"

    /// No code was entered.
    static let noCode: Text = "no activation code was given"
    /// The code is mistyped; the server was not asked.
    static let mistyped: Text =
        """
        the activation code contains a typing error: nothing was sent. Compare it and type it again
        """

    /// The argument is not the URL of a server.
    static func badURL(_ text: Bytes) -> Text {
        "\(text) is not the URL of a server. A valid one looks like https://id.example.org"
    }

    /// The argument of `--name` cannot be a device's name.
    static func badName(_ text: Bytes) -> Text {
        """
        \(text) is not a valid device name. A name has up to 64 letters without accents, digits, \
        spaces and .-_()+, and begins with a letter or digit
        """
    }

    /// The name under which the device is shown.
    static func named(_ name: DeviceName) -> Text {
        "the server shows it as '\(name.bytes)'"
    }

    /// What the touch is for; `action` as `Prompt.action` has it.
    static func enabling(_ action: Text, server: ServerURL) -> Text {
        "\(action) to register this device at \(server)"
    }

    /// The device is registered.
    static func enabled(
        _ server: ServerURL, as account: ServerAccountName, application: ApplicationName
    )
        -> Text
    {
        """
        this device is registered at \(server) as \(account), for \(application): 'signet login' \
        logs in with a touch
        """
    }

    /// An administrator of the server must compare the key.
    static func pending(_ fingerprint: Bytes) -> Text {
        """
        an administrator of the server must first compare the fingerprint of this device's key: \
        \(fingerprint)
        """
    }

    /// The key, for comparison.
    static func key(_ fingerprint: Bytes) -> Text {
        "the fingerprint of this device's key is \(fingerprint)"
    }

    /// The registration was removed.
    static func disabled(_ server: ServerURL) -> Text {
        "this device is no longer registered at \(server), and its key was destroyed"
    }

    /// The registration was removed only here; the server will be informed.
    static func disabledLater(_ server: ServerURL) -> Text {
        """
        login to \(server) is off. The server has not been informed yet; it will be as soon as it \
        can be reached
        """
    }

    /// The registration was removed only here, and the server will not be informed.
    static func dropped(_ server: ServerURL) -> Text {
        """
        login to \(server) is off, and its key was destroyed. The server was not informed: ask its \
        administrator to remove the registration
        """
    }

    /// `login` without a URL, and no server is registered.
    static func none(_ account: AccountName) -> Text {
        """
        \(account) is not registered at any server. Run 'signet enable --server URL' with an \
        activation code
        """
    }

    /// The token could not be passed on.
    static let unwritten: Text = "the token could not be written to standard output"
    /// In the list of servers and in `signet status`: the state of a registration.
    static func line(_ server: ServerAnswer) -> Text {
        let place = place(server)
        return switch server.state {
        case .good: place
        case .invalidated:
            "\(place): the fingers have changed. Run 'signet enable --server' with a new code"
        case .removing: "\(place): off, but the server has not been informed yet"
        }
    }

    private static func place(_ server: ServerAnswer) -> Text {
        let day = Text.date(server.since)
        if let name = server.deviceName {
            return """
                \(server.server), as \(server.account) for \(server.application), since \(day), \
                device '\(name.bytes)'
                """
        }
        return "\(server.server), as \(server.account) for \(server.application), since \(day)"
    }

    /// What the password is for, before it is asked for.
    static func enablingByPassword(server: ServerURL) -> Text {
        "enter your password to register this device at \(server), or press Ctrl-C to stop"
    }

    /// What the touch is for.
    static func makingPasswordKey(_ action: Text, server: ServerURL) -> Text {
        "\(action) to allow logins to \(server) with your password as well"
    }

    /// The key for the password was made.
    static func passwordKeyMade(_ server: ServerURL) -> Text {
        "your password is accepted at \(server) again: 'signet login --password' logs in with it"
    }

    /// A key for the password was registered, too.
    static let passwordToo: Text =
        "if a finger cannot be used, 'signet login --password' logs in with your password"
    /// A finger has failed where the password would do.
    static let passwordInstead: Text =
        "if you cannot use your finger: this server also accepts your password. Add '--password'"
    /// The server's policy rejects the password, or the device's claims.
    static let passwordRefused: Text =
        """
        the server does not accept passwords for this, or does not accept keys stored like this \
        one
        """

    /// The password must wait, after failures of fingers and passwords together.
    static func passwordPaused(seconds: UInt32) -> Text {
        "too many failed attempts: your password is accepted again in \(number: seconds) s"
    }
}
