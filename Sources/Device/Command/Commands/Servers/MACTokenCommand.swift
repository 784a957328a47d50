// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Authorization
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

/// `signet mac-token`: obtains, lists, removes and uses MAC tokens of servers.
struct MACTokenCommand: Command {
    static let helpPosition = 180
    static let syntax = CommandSyntax(
        "mac-token",
        summary: """
            manage tokens that identify this device to servers without a touch: add, list, remove, \
            header
            """,
        forms: [
            FormSyntax(word: "add", operands: [OperandSyntax(.url), "NAME"]),
            FormSyntax(word: "list"),
            FormSyntax(word: "remove", operands: [.tokenName]),
            FormSyntax(
                word: "header",
                operands: [.tokenName, OperandSyntax(.method), OperandSyntax(.url)],
                options: [.body]),
        ], options: [.account, .server, .json], misuse: MACTokenMessages.choose)

    let run: Invocation

    /// `signet mac-token add URL NAME | list | remove NAME | header NAME METHOD URL`
    func perform() throws(CommandFault) {
        let words = run.arguments.operands
        switch (words.first, words.count) {
        case ("add", 3): try addMACToken(words[1], typed: words[2])
        case ("list", 1): try listMACTokens()
        case ("remove", 2): try removeMACToken(words[1])
        case ("header", 4): try macHeader(words[1], method: words[2], url: words[3])
        default: throw .usage(MACTokenMessages.choose)
        }
    }

    private func addMACToken(_ url: String, typed: String) throws(CommandFault) {
        let server = try ServerRequests(run: run).server(url)
        let name = try tokenName(typed)
        let account = try run.account()
        let request = MACTokenAddRequest(
            account: account, timeoutMilliseconds: 30_000, server: server, name: name)
        var got: MACTokenAnswer?
        _ = try ServerRequests(run: run).ask(
            .macTokenAdd(request),
            purpose: { MACTokenMessages.adding($0, name: name, server: server) },
            meanwhile: { answer in
                guard case .macToken(let token) = answer else { return false }
                got = token
                return true
            }
        ) { answer in
            if case .done(let done) = answer { done } else { nil }
        }
        guard let token = got else { throw .fault(CommonMessages.unexpected) }
        let until = Text.date(token.expires)
        run.say(
            .document(
                "mac-token",
                members: [("account", .bytes(account.bytes)), ("token", token.document)]),
            [MACTokenMessages.added(name, server: server, until: until)])
    }

    private func listMACTokens() throws(CommandFault) {
        let account = try run.account()
        let only = try run.arguments.value(.server).map { (typed) throws(CommandFault) in
            try ServerRequests(run: run).server(typed)
        }
        let tokens = try macTokens(of: account).filter { $0.server == only ?? $0.server }
        let document = JSON.document(
            "mac-tokens",
            members: [
                ("account", .bytes(account.bytes)), ("tokens", .array(tokens.map(\.document))),
            ])
        guard !tokens.isEmpty else { return run.say(document, [MACTokenMessages.none(account)]) }
        run.say(document, Table.lines([MACTokenMessages.heading] + tokens.map(\.row)))
    }

    private func removeMACToken(_ typed: String) throws(CommandFault) {
        let account = try run.account()
        let token = try token(named: typed.bytes, account: account)
        let done = try ServerRequests(run: run).ask(
            .macTokenRemove(account: account, server: token.server, name: token.name),
            awaitsTouch: false, purpose: { _ in "" }
        ) { answer in
            if case .done(let done) = answer { done } else { nil }
        }
        let isKnown = done.state != .disabled
        run.say(
            .document(
                "mac-token-removed",
                members: [
                    ("account", .bytes(account.bytes)), ("token", token.document),
                    ("serverKnows", .bool(isKnown)),
                ]),
            [
                isKnown
                    ? MACTokenMessages.removed(token.name, server: token.server)
                    : MACTokenMessages.removedLater(token.name, server: token.server)
            ])
    }

    /// Writes only the header's line to standard output.
    private func macHeader(
        _ typed: String, method: String, url: String
    ) throws(CommandFault) {
        guard let resource = RequestTarget.resource(of: url) else {
            throw .usage(RequestTargetMessages.badTarget(url.bytes))
        }
        guard RequestLines.isMethod(method.bytes) else {
            throw .usage(RequestTargetMessages.badMethod(method.bytes))
        }
        let digest = try SignCommand(run: run).bodyDigest()
        let account = try run.account()
        let token = try token(named: typed.bytes, account: account)
        let request = MACTokenHeaderRequest(
            account: account, server: token.server, name: token.name, method: method.bytes,
            resource: resource, bodyDigest: digest)
        let header = try ServerRequests(run: run).ask(
            .macTokenHeader(request), awaitsTouch: false, purpose: { _ in "" }
        ) { answer in
            if case .authorization(let header) = answer { header } else { nil }
        }
        if run.isJSON {
            return run.environment.say(
                .document("authorization", members: [("authorization", .bytes(header))]))
        }
        guard run.environment.release(Bytes("Authorization: ".utf8) + header + [10]) else {
            throw .fault(ServerMessages.unwritten)
        }
    }

    /// Lists the account's MAC tokens.
    func macTokens(of account: AccountName) throws(CommandFault) -> [MACTokenAnswer] {
        try run.collect(.macTokenList(account: account)) { answer in
            if case .macToken(let token) = answer { token } else { nil }
        }
    }

    /// Finds a token by name; throws if there is none, or if several servers have one.
    private func token(
        named name: Bytes, account: AccountName
    ) throws(CommandFault) -> MACTokenAnswer {
        let only = try run.arguments.value(.server).map { (typed) throws(CommandFault) in
            try ServerRequests(run: run).server(typed)
        }
        let named = try macTokens(of: account).filter {
            $0.name == name && $0.server == only ?? $0.server
        }
        guard let first = named.first else {
            throw .denied(Denial(.unknownMacToken, subject: name), account: account)
        }
        guard named.count == 1 else { throw .refused(MACTokenMessages.ambiguous(name)) }
        return first
    }

    private func tokenName(_ typed: String) throws(CommandFault) -> Bytes {
        let name = typed.bytes
        guard SecretName.fault(name) == nil else {
            throw .usage(MACTokenMessages.badName(name))
        }
        guard name != MACTokenName.operations else { throw .usage(MACTokenMessages.reserved(name)) }
        return name
    }
}

extension MACTokenAnswer {
    fileprivate var row: [Text] {
        ["\(name)", "\(server)", Text.date(since), Text.date(expires)]
    }

    fileprivate var document: JSON {
        .object([
            ("name", .bytes(name)), ("server", .bytes(server.bytes)),
            ("token", .bytes(token.hexadecimal)), ("since", JSON.instant(since)),
            ("expires", JSON.instant(expires)),
        ])
    }
}

extension OperandSyntax {
    fileprivate static let tokenName = OperandSyntax(
        ValueSyntax("NAME", kind: .listed(member: "name", by: "mac-token list")))
}

/// Messages of `signet mac-token`.
enum MACTokenMessages {
    /// The forms of the command.
    static let choose: Text =
        "mac-token takes add URL NAME, list, remove NAME or header NAME METHOD URL"

    /// The name of the token is invalid.
    static func badName(_ name: Bytes) -> Text {
        """
        \(name) is not a valid name for a MAC token: it needs 1 to 128 bytes of text without \
        control characters, and must not begin with a hyphen
        """
    }

    /// The reserved name.
    static func reserved(_ name: Bytes) -> Text {
        """
        \(name) is reserved for the token that 'signet operations' gets for itself. Choose another \
        name
        """
    }

    /// Several servers issued a token with this name.
    static func ambiguous(_ name: Bytes) -> Text {
        "several servers issued a MAC token \(name): choose one with '--server'"
    }

    /// What the touch is for; `action` as `Prompt.action` has it.
    static func adding(_ action: Text, name: Bytes, server: ServerURL) -> Text {
        "\(action) to get the MAC token \(name) from \(server)"
    }

    /// The token was created.
    static func added(_ name: Bytes, server: ServerURL, until: Text) -> Text {
        """
        the MAC token \(name) of \(server) is stored, and valid until \(until). Any program that \
        runs 'signet mac-token header' as you can identify this device with it, without a touch
        """
    }

    /// The token was removed here and at the server.
    static func removed(_ name: Bytes, server: ServerURL) -> Text {
        "the MAC token \(name) of \(server) was revoked and is no longer accepted"
    }

    /// The token was removed only here.
    static func removedLater(_ name: Bytes, server: ServerURL) -> Text {
        """
        the MAC token \(name) of \(server) is no longer used here. The server could not be \
        informed: it will be as soon as it can be reached, and accepts the token until then
        """
    }

    /// There is no such token.
    static func none(_ account: AccountName) -> Text {
        "\(account) has no MAC token. Run 'signet mac-token add URL NAME' to get one"
    }

    /// The heading above the tokens.
    static let heading: [Text] = ["name", "server", "since", "expires"]
}
