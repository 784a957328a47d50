// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Doctor
import LoginMessages
import LoginProtocol
import SignedFormats

/// `signet enroll`, `list`, `delete`, `verify` and `enable`: an account's fingers, and login by them.
struct FingerCommands {
    let run: Invocation

    /// The order in which fingers are offered for enrolment.
    private static let preference: [Finger] = [
        .rightIndex, .leftIndex, .rightThumb, .leftThumb, .rightMiddle, .leftMiddle, .rightRing,
        .leftRing, .rightLittle, .leftLittle,
    ]

    /// `signet enroll [FINGER] [--reader ID]`
    func enroll() throws(CommandFault) {
        let account = try run.account()
        let named = try namedFinger()
        var finger = named ?? .rightIndex
        var secrets: UInt32?
        if named == nil || isAtTerminal {
            let fingers = try fingers(account)
            if named == nil { finger = try freeFinger(fingers, account) }
            secrets = fingers.secrets
        }
        let endings = try AffectedKeys.of(account, run)
        warn(of: endings, secrets)
        let done = try run.follow(
            .enroll(
                account: account, finger: finger,
                readerID: run.arguments.value(.reader)?.bytes), awaitsTouch: true)
        let name = (done.finger ?? finger).word
        let lines = [
            CommandOutcome.enrolled(name.bytes, account: account, prints: done.prints ?? 0)
        ]
        sayChange("enrolled", account, finger: name, done, endings, lines)
    }

    /// `signet delete FINGER | --all`
    func delete() throws(CommandFault) {
        let finger = try namedFinger()
        guard (finger == nil) == run.arguments.has(.all) else {
            throw .usage(
                CommandText.choose("FINGER".bytes, Option.all.name.bytes, action: "delete".bytes))
        }
        let account = try run.account()
        let known = isAtTerminal ? try knownFingers(account) : nil
        let endings = try AffectedKeys.of(account, run)
        // One that is not there ends nothing; a damaged one may be any.
        let isThere = known?.prints.contains { $0.finger == finger || $0.finger == nil } ?? true
        if finger == nil || isThere { warn(of: endings, known?.secrets) }
        let done = try run.follow(.delete(account: account, finger: finger), awaitsTouch: false)
        let lines = [
            CommandOutcome.deleted(
                finger?.word.bytes, account: account, prints: done.prints ?? 0)
        ]
        sayChange("deleted", account, finger: finger?.word, done, endings, lines)
    }

    /// `signet list`
    func list() throws(CommandFault) {
        let account = try run.account()
        let (prints, secrets) = try fingers(account)
        let document = JSON.document(
            "fingers",
            [
                ("account", .bytes(account)), ("fingers", .array(prints.map(\.document))),
                ("secrets", .number(UInt64(secrets ?? 0))),
            ])
        guard !prints.isEmpty else { return run.say(document, [CommandOutcome.noFingers(account)]) }
        let depending = secrets.map { [CommandSecrets.depending($0)] } ?? []
        run.say(document, Table.lines([PrintAnswer.heading] + prints.map(\.row)) + depending)
    }

    /// `signet verify [--reason TEXT]`
    func verify() throws(CommandFault) {
        let reason = try reason()
        let account = try run.account()
        let done = try run.follow(
            .verify(account: account, timeoutMilliseconds: 30_000, reason: reason),
            awaitsTouch: true)
        let finger = done.finger?.word
        run.say(
            .document(
                "verified",
                [("account", .bytes(account)), ("finger", .optional(finger) { .string($0) })]),
            [CommandOutcome.matched(finger?.bytes)])
    }

    /// What the caller says that the touch is for.
    private func reason() throws(CommandFault) -> Bytes? {
        guard let reason = run.arguments.value(.reason)?.bytes else { return nil }
        guard AskersReason.isSound(reason) else {
            throw .usage(CommandText.badReason(most: UInt32(AskersReason.limit)))
        }
        return reason
    }

    /// `signet enable [--keyring | --no-keyring]`
    func enable() throws(CommandFault) {
        guard !run.arguments.has(.keyring) || !run.arguments.has(.noKeyring) else {
            throw .usage(
                CommandText.choose(
                    Option.keyring.name.bytes, Option.noKeyring.name.bytes, action: "enable".bytes))
        }
        if isAtTerminal { try showSealing(try run.account()) }
        var keyring: Bool?
        if run.arguments.has(.keyring) { keyring = true }
        if run.arguments.has(.noKeyring) { keyring = false }
        try toggle(
            { [keyring] in Request.enable(account: $0, keyring: keyring) }, kind: "enabled"
        ) { account, prints in
            let sealed = prints.map { CommandOutcome.sealed($0.row[0], reader: $0.readerID) }
            return sealed + loginLines(.valid, account)
        }
    }

    /// Shows what a key would be sealed to, for whoever is about to give the password; throws where
    /// that is refused.
    private func showSealing(_ account: Bytes) throws(CommandFault) {
        // Where it cannot be told, the request is refused for that.
        guard let prints = try knownFingers(account)?.prints, !prints.isEmpty else { return }
        if let damaged = prints.first(where: { !$0.intact }) {
            throw .denied(Denial(.printsDamaged, finger: damaged.finger), account: account)
        }
        run.surroundings.say(CommandOutcome.sealing(account))
        for line in Table.lines([PrintAnswer.heading] + prints.map(\.row)) {
            run.surroundings.say("  \(line)")
        }
    }

    /// Whether login is on after a change, by the key and by this machine's PAM services, and what
    /// is left to do where it is not.
    func loginLines(_ state: CredentialState, _ account: Bytes) -> [Text] {
        guard state == .valid else { return [CommandOutcome.login(state, account: account)] }
        let module = run.surroundings.machine.moduleUse()
        let (line, step): (Text, LoginStep)
        if module.isUnused {
            (line, step) = (CommandOutcome.readyUnused(account), .activate(module.activation))
        } else if module.isMissing {
            (line, step) = (CommandOutcome.readyMissing(account), .install(module.installation))
        } else {
            return [CommandOutcome.enabled(account)]
        }
        return [line] + (CommandStatus.next(step, for: nil).map { [$0] } ?? [])
    }

    /// `signet enable`, `disable` and `unlock`
    func toggle(
        _ request: (Bytes) -> Request, kind: String,
        _ outcome: (Bytes, [PrintAnswer]) -> [Text]
    ) throws(CommandFault) {
        let account = try run.account()
        var prints: [PrintAnswer] = []
        let done = try run.follow(request(account), awaitsTouch: false) { prints.append($0) }
        run.say(
            .document(
                kind,
                [
                    ("account", .bytes(account)),
                    ("login", .optional(done.state) { .string($0.word) }),
                    ("keyring", .optional(done.keyring) { .string($0.word) }),
                    ("keptOut", .optional(done.keptOut, JSON.bytes)),
                    ("fingers", .array(prints.map(\.document))),
                ]),
            outcome(account, prints) + keyringLines(done, account) + keptOutLines(done, account))
    }

    private func namedFinger() throws(CommandFault) -> Finger? {
        guard let word = run.arguments.operands.first else { return nil }
        guard let finger = Finger(word: word) else {
            let names = Finger.allCases.map(\.word).joined(separator: ", ")
            throw .usage(CommandText.unknownFinger(word.bytes, names: names.text))
        }
        return finger
    }

    private func freeFinger(
        _ fingers: (prints: [PrintAnswer], secrets: UInt32?), _ account: Bytes
    ) throws(CommandFault) -> Finger {
        let taken = fingers.prints.compactMap(\.finger)
        guard let free = Self.preference.first(where: { !taken.contains($0) }) else {
            throw .denied(Denial(.tooManyFingers), account: account)
        }
        return free
    }

    /// The fingers, and how many secrets open to them.
    private func fingers(
        _ account: Bytes
    ) throws(CommandFault) -> (prints: [PrintAnswer], secrets: UInt32?) {
        var done = DoneAnswer()
        let prints: [PrintAnswer] = try run.collect(.list(account: account), &done) { answer in
            if case .print(let print) = answer { return print }
            return nil
        }
        return (prints, done.secrets)
    }

    /// Whether somebody sees what is said before a change of fingers, and can still take it back.
    private var isAtTerminal: Bool { !run.isJSON && run.surroundings.columns() != nil }

    /// Says what a change of fingers will end, before anything is asked for.
    private func warn(of endings: AffectedKeys, _ secrets: UInt32?) {
        guard isAtTerminal else { return }
        if let secrets { run.surroundings.say(CommandSecrets.warning(secrets)) }
        for warning in endings.warnings { run.surroundings.say(warning) }
    }

    /// The fingers, and the secrets that a change would end; nil where that cannot be told: fingers
    /// that nothing opens any more can still be deleted.
    private func knownFingers(
        _ account: Bytes
    ) throws(CommandFault) -> (prints: [PrintAnswer], secrets: UInt32?)? {
        do throws(CommandFault) {
            return try fingers(account)
        } catch .interrupted {
            throw .interrupted
        } catch { return nil }
    }

    private func sayChange(
        _ kind: String, _ account: Bytes, finger: String?, _ done: DoneAnswer,
        _ endings: AffectedKeys, _ lines: [Text]
    ) {
        let login: [Text] =
            done.prints == 0
            ? [CommandOutcome.noFingers(account)]
            : done.state.map { loginLines($0, account) } ?? []
        let secrets = done.secrets.map { [CommandSecrets.ended($0)] } ?? []
        run.say(
            .document(
                kind,
                [
                    ("account", .bytes(account)), ("finger", .optional(finger) { .string($0) }),
                    ("fingers", .optional(done.prints) { .number(UInt64($0)) }),
                    ("login", .optional(done.state) { .string($0.word) }),
                    ("keyring", .optional(done.keyring) { .string($0.word) }),
                    ("keptOut", .optional(done.keptOut, JSON.bytes)),
                    ("secretsEnded", .number(UInt64(done.secrets ?? 0))),
                ] + endings.members),
            lines + login + keyringLines(done, account) + secrets + endings.ended
                + keptOutLines(done, account))
    }

    private func keptOutLines(_ done: DoneAnswer, _ account: Bytes) -> [Text] {
        done.keptOut.map { [CommandStatus.keptOut(account, $0)] } ?? []
    }

    private func keyringLines(_ done: DoneAnswer, _ account: Bytes) -> [Text] {
        done.keyring.map { [CommandOutcome.keyring($0, account: account)] } ?? []
    }
}

extension PrintAnswer {
    fileprivate static let heading = CommandTable.fingers

    fileprivate var row: [Text] {
        [
            finger.map { $0.word.text } ?? CommandTable.unknown,
            since.map { Text.date($0) } ?? CommandTable.unknown, "\(readerID)",
            intact ? CommandTable.intact : CommandTable.damaged,
        ]
    }

    fileprivate var document: JSON {
        .object([
            ("finger", .optional(finger) { .string($0.word) }),
            ("id", .bytes(Hexadecimal.encode(printID))), ("reader", .bytes(readerID)),
            ("since", .optional(since, JSON.instant)), ("intact", .bool(intact)),
        ])
    }
}
