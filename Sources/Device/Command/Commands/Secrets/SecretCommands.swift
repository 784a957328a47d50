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

/// `signet secret set`: stores a secret that only a touch releases.
struct SecretSetCommand: Command {
    static let helpPosition = 200
    static let group: GroupSyntax? = GroupSyntax(
        "secret", summary: "store secrets that a touch releases")
    static let syntax = CommandSyntax(
        "secret set",
        summary: "store a secret that a touch releases: from standard input, or typed without echo",
        operands: [.secretName], options: [.account, .replace, .json])

    let run: Invocation

    func perform() throws(CommandFault) { try SecretRequests(run: run).setSecret() }
}

/// `signet secret get`: writes only the secret to standard output; notices go to standard error.
struct SecretGetCommand: Command {
    static let helpPosition = 210
    static let syntax = CommandSyntax(
        "secret get", summary: "write a secret to standard output after a touch",
        operands: [.secretName],
        options: [.account, .noNewline, .force])

    let run: Invocation

    func perform() throws(CommandFault) { try SecretRequests(run: run).getSecret() }
}

/// `signet secret list`: lists the account's secrets without their contents.
struct SecretListCommand: Command {
    static let helpPosition = 220
    static let syntax = CommandSyntax(
        "secret list", summary: "list the names of the secrets, and whether they can be opened",
        options: [.account, .json])

    let run: Invocation

    func perform() throws(CommandFault) { try SecretRequests(run: run).listSecrets() }
}

/// `signet secret delete`: deletes a secret.
struct SecretDeleteCommand: Command {
    static let helpPosition = 230
    static let syntax = CommandSyntax(
        "secret delete", summary: "delete a secret", operands: [.secretName],
        options: [.account, .json])

    let run: Invocation

    func perform() throws(CommandFault) { try SecretRequests(run: run).deleteSecret() }
}

/// Operations on secrets that several commands use.
struct SecretRequests {
    let run: Invocation

    /// `signet secret set NAME [--replace]`
    func setSecret() throws(CommandFault) {
        let name = try secretName(run.arguments.operands.first)
        let account = try run.account()
        let secret = SecretBuffer()
        try fill(secret, name: name)
        guard secret.count > 0 else { throw .refused(SecretMessages.empty) }
        guard secret.count <= Limit.secret else { throw .refused(SecretMessages.tooLong) }
        try keep(secret, name: name, account: account, replaces: run.arguments.has(.replace))
        saySecret(
            "secret-kept", name: name, account: account,
            line: SecretMessages.kept(name, account: account))
    }

    /// Sends a secret to the daemon, which stores it; `replaces` permits replacing one of the same
    /// name.
    func keep(
        _ secret: SecretBuffer, name: Bytes, account: AccountName, replaces: Bool
    ) throws(CommandFault) {
        let request = SecretSetRequest(
            account: account, size: UInt32(clamping: secret.count), name: name,
            replaces: replaces)
        var exchange = run.exchange(.secretSet(request))
        exchange.secret = secret
        try exchange.run { (answer) throws(CommandFault) in
            guard case .done = answer else { throw .fault(CommonMessages.unexpected) }
            return .finished
        }
    }

    /// `signet secret get NAME [-n] [--force]`
    ///
    /// Nothing is written before the secret is complete.
    func getSecret() throws(CommandFault) {
        let name = try secretName(run.arguments.operands.first)
        let account = try run.account()
        let secret = SecretBuffer()
        var exchange = run.exchange(
            .secretGet(account: account, name: name, timeoutMilliseconds: 30_000),
            awaitsTouch: true)
        exchange.secret = secret
        try exchange.run { (answer) throws(CommandFault) in
            switch answer {
            case .notice(let notice):
                tell(notice, name: name, account: account)
                return .goOn
            case .done: return .finished
            default: throw .fault(CommonMessages.unexpected)
            }
        }
        try release(secret)
    }

    /// `signet secret list`
    func listSecrets() throws(CommandFault) {
        let account = try run.account()
        let secrets = try secrets(of: account)
        let document = JSON.document(
            "secrets",
            members: [
                ("account", .bytes(account.bytes)), ("secrets", .array(secrets.map(\.document))),
            ])
        guard !secrets.isEmpty else { return run.say(document, [SecretMessages.none(account)]) }
        run.say(document, Table.lines([SecretMessages.heading] + secrets.map(\.row)))
    }

    /// Lists the account's secrets, without their contents.
    func secrets(of account: AccountName) throws(CommandFault) -> [SecretAnswer] {
        try run.collect(.secretList(account: account)) { answer in
            if case .secret(let secret) = answer { secret } else { nil }
        }
    }

    /// `signet secret delete NAME`
    func deleteSecret() throws(CommandFault) {
        let name = try secretName(run.arguments.operands.first)
        let account = try run.account()
        _ = try run.follow(.secretDelete(account: account, name: name), awaitsTouch: false)
        saySecret(
            "secret-deleted", name: name, account: account,
            line: SecretMessages.deleted(name, account: account))
    }

    private func saySecret(_ kind: String, name: Bytes, account: AccountName, line: Text) {
        run.say(
            .document(kind, members: [("account", .bytes(account.bytes)), ("name", .bytes(name))]),
            [line]
        )
    }

    /// Returns the name of a secret; throws `.usage` if it is invalid.
    func secretName(_ typed: String?) throws(CommandFault) -> Bytes {
        guard let name = typed?.bytes else {
            throw .usage(SecretMessages.emptyName)
        }
        switch SecretName.fault(name) {
        case nil: return name
        case .empty: throw .usage(SecretMessages.emptyName)
        case .tooLong: throw .usage(SecretMessages.longName)
        case .unprintable: throw .usage(SecretMessages.badName(name))
        case .likeAnOption: throw .usage(SecretMessages.optionName(name))
        }
    }
}

extension SecretRequests {
    /// Reads all of standard input or, at a terminal, a line that must be typed twice.
    private func fill(_ secret: SecretBuffer, name: Bytes) throws(CommandFault) {
        guard isTerminal(run.environment.input) else {
            return try secret.read(
                from: run.environment.input, interrupts: run.environment.interrupts)
        }
        var first = try HiddenInput.secret.typed(
            after: SecretMessages.prompt(name), in: run.environment)
        defer { wipe(&first) }
        guard !first.isEmpty else { throw .refused(SecretMessages.empty) }
        var second = try HiddenInput.secret.typed(after: SecretMessages.again, in: run.environment)
        defer { wipe(&second) }
        guard constantTimeEqual(first, second) else {
            throw .refused(SecretMessages.different)
        }
        _ = secret.append(first[...])
    }

    /// Shows a notice on standard error, because standard output is for the secret.
    private func tell(_ notice: Notice, name: Bytes, account: AccountName) {
        if notice.kind == .touch {
            let purpose = SecretMessages.purpose(name)
            return run.environment.complain(
                Prompt.touch(
                    notice, purpose: purpose, service: .signet, who: "\(account)"))
        }
        if let text = notice.text { run.environment.complain(text) }
    }

    private func release(_ secret: SecretBuffer) throws(CommandFault) {
        let isTerminal = run.environment.columns() != nil
        guard !isTerminal || run.arguments.has(.force) || secret.isText else {
            throw .refused(SecretMessages.binary)
        }
        guard secret.withBytes(run.environment.release) else {
            throw .fault(SecretMessages.unwritten)
        }
        if isTerminal && !secret.endsLine && !run.arguments.has(.noNewline) {
            run.environment.put([10])
        }
    }
}

extension HiddenInput {
    /// A secret that is typed, limited to the longest line of a terminal; termios(3).
    fileprivate static let secret = HiddenInput(
        limit: 4_095, noTerminal: .refused(SecretMessages.noTerminal),
        missing: .refused(SecretMessages.empty), tooLong: .refused(SecretMessages.longLine))
}

extension SecretAnswer {
    fileprivate var row: [Text] {
        guard state != .damaged else {
            return [
                "\(name)", TableText.unknown, TableText.unknown, TableText.unknown,
                SecretMessages.damaged,
            ]
        }
        return [
            "\(name)", Text.date(since), "\(number: size)", "\(vault)",
            state == .fits ? SecretMessages.fits : SecretMessages.stale,
        ]
    }

    fileprivate var document: JSON {
        let isKnown = state != .damaged
        return .object([
            ("name", .bytes(name)), ("state", .string(state.word)),
            ("since", .optional(isKnown ? since : nil, JSON.instant)),
            ("size", .optional(isKnown ? size : nil) { .number(UInt64($0)) }),
            ("vault", .optional(isKnown ? vault : nil, JSON.bytes)),
        ])
    }
}

extension OperandSyntax {
    fileprivate static let secretName = OperandSyntax(
        .secretName, missing: SecretMessages.emptyName)
}

extension OptionSyntax {
    fileprivate static let noNewline = OptionSyntax(
        "no-newline", short: "n", summary: "do not add a newline on a terminal; short form: -n")
}

/// Messages of `signet secret`, and messages about secrets in other commands.
enum SecretMessages {
    /// The heading above the secrets.
    static let heading: [Text] = ["name", "stored", "bytes", "vault", "state"]
    /// Secrets that a touch can open.
    static let fits: Text = "good"
    /// Secrets that can no longer be opened.
    static let stale: Text = "the fingers have changed: set it again"
    /// Secrets that were altered.
    static let damaged: Text = "damaged: delete it, or set it again"
    /// The secret was stored.
    static func kept(_ name: Bytes, account: AccountName) -> Text {
        "the secret \(name) is stored for \(account): 'signet secret get' releases it after a touch"
    }

    /// The secret was deleted.
    static func deleted(_ name: Bytes, account: AccountName) -> Text {
        "the secret \(name) of \(account) was deleted"
    }

    /// Nothing to list.
    static func none(_ account: AccountName) -> Text {
        "no secrets are stored for \(account). Run 'signet secret set NAME' to store one"
    }

    /// The prompt for a hidden line.
    static func prompt(_ name: Bytes) -> Text { "Secret \(name): " }
    /// The prompt for the same line again.
    static let again: Text = "Repeat the secret: "
    /// The two lines differ.
    static let different: Text = "the two entries differ: nothing was stored"
    /// Nothing was entered.
    static let empty: Text = "the secret is empty: nothing was stored"
    /// The secret is longer than a terminal accepts.
    static let longLine: Text =
        "the line is too long for a terminal: give the secret on standard input"

    /// The secret cannot be prompted for.
    static let noTerminal: Text =
        "there is no terminal to type the secret on: give it on standard input"

    /// What the touch is for.
    static func purpose(_ name: Bytes) -> Bytes { Bytes("secret ".utf8) + name }
    /// The secret could change the terminal's state.
    static let binary: Text =
        "the secret is not text and was not shown. Send it to a file or a program, or use '--force'"

    /// The secret could not be passed on.
    static let unwritten: Text = "the secret could not be written to standard output"
    /// The name is empty.
    static let emptyName: Text = "a secret needs a name"
    /// The name is too long.
    static let longName: Text =
        "the name of a secret can have at most \(number: UInt32(Limit.secretName)) bytes"

    /// The name has invalid characters.
    static func badName(_ name: Bytes) -> Text {
        "\(name) is not a valid name for a secret: it has control characters, or is not UTF-8"
    }

    /// The name begins with a hyphen.
    static func optionName(_ name: Bytes) -> Text {
        "\(name) is not a valid name for a secret: it begins with a hyphen"
    }

    /// The secret is longer than the limit.
    static let tooLong: Text =
        "the secret is longer than \(number: UInt32(Limit.secret)) bytes: nothing was stored"

    /// After a change of fingers: how many secrets can no longer be opened.
    static func ended(_ count: UInt32) -> Text {
        count == 1
            ? "1 secret can no longer be opened: set it again"
            : "\(number: count) secrets can no longer be opened: set them again"
    }
}
