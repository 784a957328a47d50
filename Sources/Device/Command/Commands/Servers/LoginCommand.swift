// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix

/// `signet login`: logs in at a server with a touch, or with the password in its place.
struct LoginCommand: Command {
    static let helpPosition = 150
    static let syntax = CommandSyntax(
        "login",
        summary:
            "log in to a server with a touch, and print its token; without a URL: list the servers",
        forms: [
            FormSyntax(operands: [OperandSyntax(.url, count: 0...1)]),
            FormSyntax(
                .secret,
                operands: [OperandSyntax(.url, missing: LoginMessages.secretWithoutServer)],
                options: [.replace]),
        ], options: [.account, .password, .passwordStdin, .json])

    let run: Invocation

    private var shared: ServerRequests { ServerRequests(run: run) }

    /// Logs in and writes only the access token to standard output, or stores it as a secret.
    ///
    /// Without a URL it lists the servers at which the account is registered.
    func perform() throws(CommandFault) {
        let account = try run.account()
        guard let operand = run.arguments.operands.first else {
            return say(try shared.servers(of: account), account: account)
        }
        let server = try shared.server(operand)
        let place = try placeForToken(account)
        let known = try shared.servers(of: account)
        let name =
            known.first { $0.server == server }?.account
            ?? ServerAccountName(account.bytes)
        var token = try shared.ask(
            .serverLogin(
                account: account, server: server, timeoutMilliseconds: 30_000, factor: run.factor),
            purpose: { LoginMessages.loggingIn($0, server: server, as: name) },
            byPassword: run.factor == .password
                ? LoginMessages.loggingInByPassword(server: server, as: name) : nil,
            alternative: known.contains { $0.server == server && $0.hasPasswordKey }
        ) { answer in
            if case .token(let token) = answer { token } else { nil }
        }
        defer {
            wipe(&token.accessToken)
            wipe(&token.refreshToken)
        }
        if let place { return try keep(token, of: server, as: place, account: account) }
        if run.isJSON { return run.environment.say(document(of: token, server: server)) }
        guard run.environment.release(token.accessToken + [10]) else {
            throw .fault(ServerMessages.unwritten)
        }
    }

    /// Returns the name of the secret that will store the token; nil if none will. It throws before
    /// a touch is asked for, if the secret could not be stored.
    private func placeForToken(_ account: AccountName) throws(CommandFault) -> Bytes? {
        guard let typed = run.arguments.value(.secret) else { return nil }
        let name = try SecretRequests(run: run).secretName(typed)
        let kept = try SecretRequests(run: run).secrets(of: account)
        let isThere = kept.contains { $0.name == name }
        guard run.arguments.has(.replace) || !isThere else {
            throw .denied(Denial(.secretExists, subject: name), account: account)
        }
        guard isThere || kept.count < Limit.secrets else {
            throw .denied(Denial(.tooManySecrets), account: account)
        }
        return name
    }

    private func keep(
        _ token: TokenAnswer, of server: ServerURL, as name: Bytes, account: AccountName
    ) throws(CommandFault) {
        let secret = SecretBuffer()
        guard secret.append(token.accessToken[...]) else {
            throw .refused(SecretMessages.tooLong)
        }
        try SecretRequests(run: run).keep(
            secret, name: name, account: account, replaces: run.arguments.has(.replace))
        run.say(
            .document(
                "token-kept",
                members: [
                    ("account", .bytes(account.bytes)), ("server", .bytes(server.bytes)),
                    ("name", .bytes(name)), ("expiresIn", .number(UInt64(token.seconds))),
                ]), [LoginMessages.kept(server, secret: name, seconds: token.seconds)])
    }

    private func say(_ servers: [ServerAnswer], account: AccountName) {
        let document = JSON.document(
            "servers",
            members: [
                ("account", .bytes(account.bytes)), ("servers", .array(servers.map(\.document))),
            ])
        run.say(
            document,
            servers.isEmpty
                ? [ServerMessages.none(account)] : servers.map(ServerMessages.line))
    }

    private func document(of token: TokenAnswer, server: ServerURL) -> JSON {
        .document(
            "token",
            members: [
                ("server", .bytes(server.bytes)), ("accessToken", .bytes(token.accessToken)),
                ("expiresIn", .number(UInt64(token.seconds))),
                ("refreshToken", .bytes(token.refreshToken)),
            ])
    }
}

extension OptionSyntax {
    fileprivate static let secret = OptionSyntax(
        "secret", .secretName, summary: "store the token as this secret, and do not print it")
}

/// Messages of `signet login`.
enum LoginMessages {
    /// What the touch is for.
    static func loggingIn(_ action: Text, server: ServerURL, as account: ServerAccountName)
        -> Text
    {
        "\(action) to log in to \(server) as \(account)"
    }

    /// The token was stored as a secret.
    static func kept(_ server: ServerURL, secret: Bytes, seconds: UInt32) -> Text {
        """
        the token of \(server) is stored as the secret \(secret), and is valid for \
        \(number: seconds) s: 'signet secret get' releases it after a touch
        """
    }

    /// `login --secret` without a URL.
    static let secretWithoutServer: Text = "--secret needs the URL of a server"

    /// What the password is for, before it is asked for.
    static func loggingInByPassword(server: ServerURL, as account: ServerAccountName) -> Text {
        "enter your password to log in to \(server) as \(account), or press Ctrl-C to stop"
    }
}
