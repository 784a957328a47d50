// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Doctor
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

/// Operations on an account's fingers that several commands use.
struct FingerExchange {
    let run: Invocation

    /// The lines that say whether login is enabled after a change, by the credential and by the PAM
    /// services of this machine, and what remains to be done.
    func loginLines(_ state: CredentialState, account: AccountName) -> [Text] {
        guard state == .valid else { return [FingerMessages.login(state, account: account)] }
        let module = run.environment.machine.moduleUse()
        let (line, step): (Text, LoginStep)
        if module.isUnused {
            (line, step) = (FingerMessages.readyUnused(account), .activate(module.activation))
        } else if module.isMissing {
            (line, step) = (FingerMessages.readyMissing(account), .install(module.installation))
        } else {
            return [FingerMessages.enabled(account)]
        }
        return [line] + (StatusMessages.next(step, for: nil).map { [$0] } ?? [])
    }

    /// Performs `signet enable`, `disable` or `unlock`; `foretold` receives what is told before.
    func toggle(
        _ request: (AccountName) -> Request, kind: String,
        foretold: ((Foretold, AccountName) -> Void)? = nil,
        _ outcome: (AccountName, [PrintAnswer]) -> [Text]
    ) throws(CommandFault) {
        let account = try run.account()
        var prints: [PrintAnswer] = []
        let done = try run.follow(
            request(account), awaitsTouch: false,
            foretold: foretold.map { tell in
                { told in
                    prints = told.prints
                    tell(told, account)
                }
            })
        run.say(
            .document(
                kind,
                members: [
                    ("account", .bytes(account.bytes)),
                    ("login", .optional(done.state) { .string($0.word) }),
                    ("keyring", .optional(done.keyring) { .string($0.word) }),
                    ("keptOut", .optional(done.keptOut, JSON.bytes)),
                    ("fingers", .array(prints.map(\.document))),
                ]),
            outcome(account, prints) + keyringLines(done, account: account)
                + keptOutLines(done, account: account))
    }

    func namedFinger() throws(CommandFault) -> Finger? {
        guard let word = run.arguments.operands.first else { return nil }
        guard let finger = Finger(word: word) else {
            let names = Finger.allCases.map(\.word).joined(separator: ", ")
            throw .usage(FingerMessages.unknownFinger(word.bytes, names: names.text))
        }
        return finger
    }

    /// Whether a user at a terminal sees warnings before a change of fingers, and can still cancel
    /// it.
    var isAtTerminal: Bool { !run.isJSON && run.environment.columns() != nil }

    /// Sends a request that changes fingers, and warns a user at a terminal of everything that the
    /// change will end or affect, before the password or a touch is asked for.
    func change(
        _ request: Request, awaitsTouch: Bool, foretold: inout Foretold,
        warning: @escaping (ChangeForecastAnswer) -> [Text] = { _ in [] }
    ) throws(CommandFault) -> DoneAnswer {
        var last = Foretold()
        defer { foretold = last }
        return try run.follow(request, awaitsTouch: awaitsTouch) { told in
            last = told
            warn(of: told, more: warning(told.end))
        }
    }

    /// Warns a user at a terminal of what a change will do.
    func warn(of foretold: Foretold, more: [Text] = []) {
        guard isAtTerminal else { return }
        for warning in more + foretold.warnings { run.environment.say(warning) }
    }

    func sayChange(
        _ kind: String, account: AccountName, finger: String?, done: DoneAnswer,
        foretold: Foretold, lines: [Text], more: [(String, JSON)] = []
    ) {
        let login: [Text] =
            done.prints == 0
            ? [FingerMessages.noFingers(account)]
            : done.state.map { loginLines($0, account: account) } ?? []
        let secrets = done.secrets.map { [SecretMessages.ended($0)] } ?? []
        run.say(
            .document(
                kind,
                members: [
                    ("account", .bytes(account.bytes)),
                    ("finger", .optional(finger) { .string($0) }),
                    ("fingers", .optional(done.prints) { .number(UInt64($0)) }),
                    ("login", .optional(done.state) { .string($0.word) }),
                    ("keyring", .optional(done.keyring) { .string($0.word) }),
                    ("keptOut", .optional(done.keptOut, JSON.bytes)),
                    ("secretsEnded", .number(UInt64(done.secrets ?? 0))),
                    ("sshKeysKept", .number(UInt64(done.sshKeysKept ?? 0))),
                    ("sshKeysEnded", .number(UInt64(done.sshKeysEnded ?? 0))),
                ] + more + foretold.members),
            lines + login + keyringLines(done, account: account) + secrets + sshKeyLines(done)
                + foretold.ended
                + keptOutLines(done, account: account))
    }

    /// The lines that say what a change of fingers has done to ssh keys.
    func sshKeyLines(_ done: DoneAnswer) -> [Text] {
        (done.sshKeysKept.map { [SSHKeyEffectMessages.sshKeysKept($0)] } ?? [])
            + (done.sshKeysEnded.map { [SSHKeyEffectMessages.sshKeysEnded($0)] } ?? [])
    }

    private func keptOutLines(_ done: DoneAnswer, account: AccountName) -> [Text] {
        done.keptOut.map { [StatusText.keptOut(account, setting: $0)] } ?? []
    }

    private func keyringLines(_ done: DoneAnswer, account: AccountName) -> [Text] {
        done.keyring.map { [FingerMessages.keyring($0, account: account)] } ?? []
    }
}

extension PrintAnswer {
    static let heading = FingerMessages.fingers

    var row: [Text] {
        [
            finger.map { $0.word.text } ?? TableText.unknown,
            since.map { Text.date($0) } ?? TableText.unknown, "\(readerID)",
            FingerMessages.state(self),
        ]
    }

    /// The state for programs; nil if it is not known.
    private var stateWord: String? {
        guard intact else { return "damaged" }
        return switch state {
        case .usable?: "usable"
        case .readerAway?: "reader-away"
        case .otherSeat?: "other-seat"
        case .lost?: "lost"
        case .unusable?: "unusable"
        case nil: nil
        }
    }

    var document: JSON {
        .object([
            ("finger", .optional(finger) { .string($0.word) }),
            ("id", .bytes(printID.hexadecimal)), ("reader", .bytes(readerID)),
            ("since", .optional(since, JSON.instant)), ("intact", .bool(intact)),
            ("state", .optional(stateWord) { .string($0) }),
        ])
    }
}

/// Messages of several commands about the fingers of an account.
enum FingerMessages {
    /// Fingerprint login was turned on.
    static func enabled(_ account: AccountName) -> Text {
        "fingerprint login is on for \(account)"
    }

    /// The key was created, but no service asks for a finger.
    static func readyUnused(_ account: AccountName) -> Text {
        """
        the key of \(account) is ready, but fingerprint login is not on yet: no service in \
        /etc/pam.d uses pam_signet
        """
    }

    /// The key was created, but the services that ask for a finger do not find the module.
    static func readyMissing(_ account: AccountName) -> Text {
        """
        the key of \(account) is ready, but fingerprint login does not work: the services in \
        /etc/pam.d cannot find pam_signet.so
        """
    }

    /// After a change of fingers: whether fingerprint login is on.
    static func login(_ state: CredentialState, account: AccountName) -> Text {
        switch state {
        case .valid: enabled(account)
        case .none: "fingerprint login is off for \(account). Run 'signet enable' to turn it on"
        case .disabled, .invalidated: DisableMessages.disabled(account)
        }
    }

    /// The column headings for fingers.
    static let fingers: [Text] = ["finger", "enrolled", "reader", "state"]
    /// An intact print.
    static let intact: Text = "good"
    /// A damaged print.
    static let damaged: Text = "damaged"
    /// Whether a print can be used now, as a column.
    static func state(_ print: PrintAnswer) -> Text {
        guard print.intact else { return damaged }
        return switch print.state {
        case .usable?, nil: intact
        case .readerAway?: "its reader is not connected"
        case .otherSeat?: "its reader is at another seat"
        case .lost?: "its reader has lost it: enrol it again"
        case .unusable?: "no reader can use it: enrol it again"
        }
    }

    /// A print that no finger can match now, and what to do.
    static func unusable(_ print: PrintAnswer) -> Text {
        let finger: Text = print.finger.map { "\($0.name.bytes)" } ?? TableText.unknown
        return switch print.state {
        case .readerAway?, .usable?, nil:
            "\(finger) does not work now: connect the reader \(print.readerID)"
        case .otherSeat?:
            "\(finger) does not work here: the reader \(print.readerID) is at another seat"
        case .lost?, .unusable?:
            """
            \(finger) does not work: the reader \(print.readerID) no longer has its print. Run \
            'signet enroll \(finger)' to enrol it again
            """
        }
    }

    /// Whether a touch opens the keyring now.
    static func keyring(_ state: KeyringState, account: AccountName) -> Text {
        switch state {
        case .on: "a touch at login opens the keyring of \(account)"
        case .off: "a touch does not open the keyring of \(account)"
        case .passwordChanged, .fingersChanged, .damaged:
            "a touch no longer opens the keyring of \(account): \(StatusText.reason(state))"
        }
    }

    /// Nothing to list.
    static func noFingers(_ account: AccountName) -> Text {
        "no finger is enrolled for \(account). Run 'signet enroll' to add one"
    }

    /// `1 finger`, `3 fingers`
    static func fingers(_ count: UInt8) -> Text {
        count == 1 ? "1 finger" : "\(number: count) fingers"
    }

    /// The finger's name is unknown.
    static func unknownFinger(_ word: Bytes, names: Text) -> Text {
        "\(word) is not a finger. The fingers are: \(names)"
    }
}
