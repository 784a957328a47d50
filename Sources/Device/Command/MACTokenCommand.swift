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
        ], options: [.account, .server, .json], misuse: CommandMACTokens.choose)

    let run: Invocation

    /// The name of the token with which `signet operations` reads; only that command obtains and
    /// uses it.
    static let reserved = Bytes("signet-operations".utf8)

    /// `signet mac-token add URL NAME | list | remove NAME | header NAME METHOD URL`
    func perform() throws(CommandFault) {
        let words = run.arguments.operands
        switch (words.first, words.count) {
        case ("add", 3): try addMACToken(words[1], typed: words[2])
        case ("list", 1): try listMACTokens()
        case ("remove", 2): try removeMACToken(words[1])
        case ("header", 4): try macHeader(words[1], method: words[2], url: words[3])
        default: throw .usage(CommandMACTokens.choose)
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
            purpose: { CommandMACTokens.adding($0, name: name, server: server) },
            meanwhile: { answer in
                guard case .macToken(let token) = answer else { return false }
                got = token
                return true
            }
        ) { answer in
            if case .done(let done) = answer { done } else { nil }
        }
        guard let token = got else { throw .fault(CommandText.unexpected) }
        let until = Text.date(token.expires)
        run.say(
            .document(
                "mac-token",
                members: [("account", .bytes(account.bytes)), ("token", token.document)]),
            [CommandMACTokens.added(name, server: server, until: until)])
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
        guard !tokens.isEmpty else { return run.say(document, [CommandMACTokens.none(account)]) }
        run.say(document, Table.lines([CommandMACTokens.heading] + tokens.map(\.row)))
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
                    ? CommandMACTokens.removed(token.name, server: token.server)
                    : CommandMACTokens.removedLater(token.name, server: token.server)
            ])
    }

    /// Writes only the header's line to standard output.
    private func macHeader(
        _ typed: String, method: String, url: String
    ) throws(CommandFault) {
        guard let resource = RequestTarget.resource(of: url) else {
            throw .usage(CommandSigning.badTarget(url.bytes))
        }
        guard RequestLines.isMethod(method.bytes) else {
            throw .usage(CommandSigning.badMethod(method.bytes))
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
            throw .fault(CommandServers.unwritten)
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
        guard named.count == 1 else { throw .refused(CommandMACTokens.ambiguous(name)) }
        return first
    }

    private func tokenName(_ typed: String) throws(CommandFault) -> Bytes {
        let name = typed.bytes
        guard SecretName.fault(name) == nil else {
            throw .usage(CommandMACTokens.badName(name))
        }
        guard name != Self.reserved else { throw .usage(CommandMACTokens.reserved(name)) }
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
