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
struct FingerRequests {
    let run: Invocation

    /// The lines that say whether login is enabled after a change, by the credential and by the PAM
    /// services of this machine, and what remains to be done.
    func loginLines(_ state: CredentialState, account: AccountName) -> [Text] {
        guard state == .valid else { return [CommandOutcome.login(state, account: account)] }
        let module = run.environment.machine.moduleUse()
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

    /// Performs `signet enable`, `disable` or `unlock`.
    func toggle(
        _ request: (AccountName) -> Request, kind: String,
        _ outcome: (AccountName, [PrintAnswer]) -> [Text]
    ) throws(CommandFault) {
        let account = try run.account()
        var prints: [PrintAnswer] = []
        let done = try run.follow(request(account), awaitsTouch: false) { prints.append($0) }
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
            throw .usage(CommandText.unknownFinger(word.bytes, names: names.text))
        }
        return finger
    }

    /// Requests the fingers, and the number of secrets that are sealed to them.
    func fingers(
        _ account: AccountName
    ) throws(CommandFault) -> (prints: [PrintAnswer], secrets: UInt32?) {
        var done = DoneAnswer()
        let prints: [PrintAnswer] = try run.collect(.list(account: account), last: &done) {
            answer in
            if case .print(let print) = answer { return print }
            return nil
        }
        return (prints, done.secrets)
    }

    /// Whether a user at a terminal sees warnings before a change of fingers, and can still cancel
    /// it.
    var isAtTerminal: Bool { !run.isJSON && run.environment.columns() != nil }

    /// Warns of what a change of fingers will end, before the password or a touch is asked for.
    func warn(of affected: AffectedKeys, secrets: UInt32?) {
        guard isAtTerminal else { return }
        if let secrets { run.environment.say(CommandSecrets.warning(secrets)) }
        for warning in affected.warnings { run.environment.say(warning) }
    }

    /// Requests the fingers and the number of secrets that a change would end.
    ///
    /// Returns nil if the daemon cannot report them, because fingers that can no longer be opened
    /// may still be deleted.
    func knownFingers(
        _ account: AccountName
    ) throws(CommandFault) -> (prints: [PrintAnswer], secrets: UInt32?)? {
        do throws(CommandFault) {
            return try fingers(account)
        } catch .interrupted {
            throw .interrupted
        } catch { return nil }
    }

    func sayChange(
        _ kind: String, account: AccountName, finger: String?, done: DoneAnswer,
        affected: AffectedKeys, lines: [Text]
    ) {
        let login: [Text] =
            done.prints == 0
            ? [CommandOutcome.noFingers(account)]
            : done.state.map { loginLines($0, account: account) } ?? []
        let secrets = done.secrets.map { [CommandSecrets.ended($0)] } ?? []
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
                ] + affected.members),
            lines + login + keyringLines(done, account: account) + secrets + affected.ended
                + keptOutLines(done, account: account))
    }

    private func keptOutLines(_ done: DoneAnswer, account: AccountName) -> [Text] {
        done.keptOut.map { [CommandStatus.keptOut(account, setting: $0)] } ?? []
    }

    private func keyringLines(_ done: DoneAnswer, account: AccountName) -> [Text] {
        done.keyring.map { [CommandOutcome.keyring($0, account: account)] } ?? []
    }
}

extension PrintAnswer {
    static let heading = CommandTable.fingers

    var row: [Text] {
        [
            finger.map { $0.word.text } ?? CommandTable.unknown,
            since.map { Text.date($0) } ?? CommandTable.unknown, "\(readerID)",
            intact ? CommandTable.intact : CommandTable.damaged,
        ]
    }

    var document: JSON {
        .object([
            ("finger", .optional(finger) { .string($0.word) }),
            ("id", .bytes(printID.hexadecimal)), ("reader", .bytes(readerID)),
            ("since", .optional(since, JSON.instant)), ("intact", .bool(intact)),
        ])
    }
}
