// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix
import SignedFormats

/// `signet sessions`: lists the sessions that logins have begun at servers, and ends them.
struct SessionsCommand: Command {
    static let helpPosition = 175
    static let syntax = CommandSyntax(
        "sessions",
        summary: "list your sessions at servers, and end them",
        forms: [
            FormSyntax(), FormSyntax(word: "list"),
            FormSyntax(
                word: "end", operands: [OperandSyntax(.sessionID, count: 0...1)],
                options: [.allSessions]),
        ], options: [.account, .server, .password, .passwordStdin, .json],
        misuse: SessionsMessages.choose)

    let run: Invocation

    /// `signet sessions [list | end ID | end --all]`
    func perform() throws(CommandFault) {
        let words = run.arguments.operands
        let isAll = run.arguments.has(.allSessions)
        switch (words.first ?? "list", words.count, isAll) {
        case ("list", ...1, false): try listSessions()
        case ("end", 2, false): try endSession(words[1])
        case ("end", 1, true): try endAll()
        default: throw .usage(SessionsMessages.choose)
        }
    }

    private func listSessions() throws(CommandFault) {
        let account = try run.account()
        let found = try sessions(of: account)
        let document = JSON.document(
            "sessions",
            members: [
                ("account", .bytes(account.bytes)),
                ("sessions", .array(found.sessions.map(\.document))),
                ("totals", .array(found.counts.map(\.document))),
                ("troubles", .array(found.troubles.map { $0.document(account) })),
            ])
        var lines: [Text] = []
        if !found.sessions.isEmpty {
            let now = UInt64(clamping: Clock.system.wallSeconds())
            lines = Table.lines(
                [SessionsMessages.heading] + found.sessions.map { $0.row(now: now) })
            lines += found.unlisted.map { SessionsMessages.more($0.count, at: $0.server) }
            lines.append(SessionsMessages.next)
        } else if found.troubles.isEmpty {
            lines = [SessionsMessages.none]
        }
        run.say(document, lines)
        try tell(found.troubles, account: account)
    }

    private func endSession(_ typed: String) throws(CommandFault) {
        let digits = typed.lowercased().bytes
        guard (4...32).contains(digits.count), digits.allSatisfy(isHexadecimal) else {
            throw .usage(SessionsMessages.badID(typed.bytes))
        }
        let account = try run.account()
        let found = try sessions(of: account)
        let matching = found.sessions.filter { $0.id.starts(with: digits) }
        guard matching.count < 2 else {
            throw .refused(SessionsMessages.ambiguous(typed.bytes))
        }
        let place: (server: ServerURL, session: SessionID)
        if let session = matching.first {
            place = (session.server, session.content.session)
        } else if let session = SessionID(hexadecimal: digits), found.counts.count == 1 {
            // It may be too old for the list; otherwise the server says what became of it.
            place = (found.counts[0].server, session)
        } else {
            try tell(found.troubles, account: account)
            throw .refused(SessionsMessages.unknown(typed.bytes))
        }
        _ = try end(place.session, at: place.server, account: account)
        let id = place.session.hexadecimal
        run.say(
            .document(
                "session-ended",
                members: [
                    ("account", .bytes(account.bytes)), ("server", .bytes(place.server.bytes)),
                    ("session", .bytes(id)),
                ]), [SessionsMessages.ended(Bytes(id.prefix(8)), at: place.server)])
    }

    private func endAll() throws(CommandFault) {
        let account = try run.account()
        let server = try onlyServer(account)
        let count = try end(nil, at: server, account: account)
        run.say(
            .document(
                "sessions-ended",
                members: [
                    ("account", .bytes(account.bytes)), ("server", .bytes(server.bytes)),
                    ("count", .number(UInt64(count))),
                ]), [SessionsMessages.endedAll(count, at: server)])
    }

    /// Ends one session, or all; returns how many were ended.
    private func end(
        _ session: SessionID?, at server: ServerURL, account: AccountName
    ) throws(CommandFault) -> UInt32 {
        let request = SessionEndRequest(
            account: account, timeoutMilliseconds: 30_000, server: server, session: session,
            factor: run.factor)
        var ended: UInt32?
        _ = try ServerRequests(run: run).ask(
            .sessionEnd(request), purpose: { SessionsMessages.reading($0) },
            byPassword: byPassword,
            meanwhile: { answer in
                guard let told: SessionCountAnswer = answer.own() else { return false }
                ended = told.count
                return true
            }
        ) { answer in
            if case .done(let done) = answer { done } else { nil }
        }
        guard let ended else { throw .fault(CommonMessages.unexpected) }
        return ended
    }

    /// Lists the sessions of an account at one server or all.
    private func sessions(of account: AccountName) throws(CommandFault) -> ListedSessions {
        let only = try namedServer()
        if only == nil { try requireServer(account) }
        let request = SessionListRequest(
            account: account, timeoutMilliseconds: 30_000, server: only, factor: run.factor)
        var found = ListedSessions()
        _ = try ServerRequests(run: run).ask(
            .sessionList(request), purpose: { SessionsMessages.reading($0) },
            byPassword: byPassword,
            meanwhile: { answer in
                if let session: SessionAnswer = answer.own() {
                    found.sessions.append(session)
                } else if let count: SessionCountAnswer = answer.own() {
                    found.counts.append(count)
                } else if case .serverTrouble(let trouble) = answer {
                    found.troubles.append(trouble)
                } else {
                    return false
                }
                return true
            }
        ) { answer in
            if case .done(let done) = answer { done } else { nil }
        }
        return found
    }

    private func namedServer() throws(CommandFault) -> ServerURL? {
        try run.arguments.value(.server).map { (typed) throws(CommandFault) in
            try ServerRequests(run: run).server(typed)
        }
    }

    /// The server that is named, or else the only one at which the account is registered.
    private func onlyServer(_ account: AccountName) throws(CommandFault) -> ServerURL {
        if let named = try namedServer() { return named }
        let usable = try requireServer(account)
        guard usable.count == 1 else { throw .usage(SessionsMessages.chooseServer) }
        return usable[0].server
    }

    /// The servers that can be asked; throws `.refused` if there is none, and says why.
    @discardableResult
    private func requireServer(_ account: AccountName) throws(CommandFault) -> [ServerAnswer] {
        let known = try ServerRequests(run: run).servers(of: account)
        let usable = known.filter { $0.state == .good }
        guard usable.isEmpty else { return usable }
        guard let first = known.first else { throw .refused(ServerMessages.none(account)) }
        throw .refused(ServerMessages.line(first))
    }

    private var byPassword: Text? {
        run.factor == .password ? SessionsMessages.readingByPassword : nil
    }

    private func tell(
        _ troubles: [ServerTroubleAnswer], account: AccountName
    ) throws(CommandFault) {
        for trouble in troubles { run.environment.complain(trouble.line(account)) }
        if let code = troubles.map(\.denial.exitCode).first { throw .said(code) }
    }

    private func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}

/// The sessions that servers listed, their numbers, and why some servers gave no answer.
private struct ListedSessions {
    var sessions: [SessionAnswer] = []
    var counts: [SessionCountAnswer] = []
    var troubles: [ServerTroubleAnswer] = []

    /// How many sessions are not listed, at the servers that have such.
    var unlisted: [SessionCountAnswer] {
        counts.compactMap { told in
            let listed = UInt32(clamping: sessions.filter { $0.server == told.server }.count)
            guard told.count > listed else { return nil }
            return SessionCountAnswer(server: told.server, count: told.count - listed)
        }
    }
}

extension SessionCountAnswer {
    fileprivate var document: JSON {
        .object([("server", .bytes(server.bytes)), ("total", .number(UInt64(count)))])
    }
}

extension SessionAnswer {
    /// The complete id in hexadecimal.
    fileprivate var id: Bytes { content.session.hexadecimal }

    /// The row in the list.
    fileprivate func row(now: UInt64) -> [Text] {
        let left = content.expires > now ? content.expires - now : 0
        return [
            "\(Bytes(id.prefix(8)))", "\(server)", SessionsMessages.device(content),
            "\(Instant(seconds: content.created).text)",
            content.refreshed.map { "\(Instant(seconds: $0).text)" } ?? "-",
            OperationMessages.left(left), SessionsMessages.factor(content.factor),
            content.address.isEmpty ? "-" : "\(content.address)",
            content.agent.isEmpty ? "-" : "\(content.agent)",
        ]
    }

    /// The session in JSON.
    fileprivate var document: JSON {
        .object([
            ("session", .bytes(id)), ("server", .bytes(server.bytes)),
            ("thisDevice", .bool(content.isOwn)),
            ("device", .bytes(content.device.hexadecimal)),
            ("deviceName", .optional(content.deviceName) { .bytes($0.bytes) }),
            ("factor", .string(content.factor.word)), ("created", JSON.instant(content.created)),
            ("refreshed", .optional(content.refreshed) { JSON.instant($0) }),
            ("expires", JSON.instant(content.expires)),
            ("address", .optional(content.address.isEmpty ? nil : content.address) { .bytes($0) }),
            ("agent", .optional(content.agent.isEmpty ? nil : content.agent) { .bytes($0) }),
        ])
    }
}

extension OptionSyntax {
    fileprivate static let allSessions = OptionSyntax(
        "all", summary: "end all sessions at the server, including this device's")
}

extension ValueSyntax {
    fileprivate static let sessionID = ValueSyntax("ID") { SessionsMessages.badID($0) }
}

/// Messages of `signet sessions`.
enum SessionsMessages {
    /// The forms of the command.
    static let choose: Text = "sessions takes list, end ID or end --all"
    /// The heading above the sessions.
    static let heading: [Text] = [
        "id", "server", "device", "began", "refreshed", "ends", "by", "from", "program",
    ]
    /// There is no session.
    static let none: Text = "no sessions: you are not logged in at any server"
    /// How to continue, after the sessions.
    static let next: Text =
        """
        names of devices and programs are unverified. To end a session: 'signet sessions end \
        ID', or 'end --all'
        """

    /// The device that began a session, by its name or the beginning of its id.
    static func device(_ session: SessionContent) -> Text {
        let name = session.deviceName?.bytes ?? Bytes(session.device.hexadecimal.prefix(8))
        return session.isOwn ? "\(name) (this device)" : "\(name)"
    }

    /// How the login was confirmed.
    static func factor(_ factor: SessionFactor) -> Text {
        switch factor {
        case .fingerprint: "touch"
        case .password: "password"
        case .both: "touch and password"
        }
    }

    /// Older sessions are not listed.
    static func more(_ count: UInt32, at server: ServerURL) -> Text {
        "older sessions at \(server) that are not shown: \(number: count)"
    }

    /// What the touch is for; `action` as `Prompt.action` has it.
    static func reading(_ action: Text) -> Text {
        "\(action) to list and end sessions for the next 30 days"
    }

    /// What the password is for, before it is asked for.
    static let readingByPassword: Text =
        "enter your password to list and end sessions for the next 30 days"

    /// The argument is neither an id nor the start of one.
    static func badID(_ typed: Bytes) -> Text {
        """
        \(typed) is not a session ID: type 4 to 32 hexadecimal digits, as 'signet sessions' shows \
        them
        """
    }

    /// Several ids start with this.
    static func ambiguous(_ typed: Bytes) -> Text {
        "several sessions begin with \(typed): type more of the ID, or add '--server'"
    }

    /// No id starts with this.
    static func unknown(_ typed: Bytes) -> Text {
        "no session begins with \(typed). It may have ended: see 'signet sessions'"
    }

    /// The account is registered at several servers.
    static let chooseServer: Text =
        """
        you are registered at several servers. Choose the one where all sessions end with \
        '--server URL'
        """

    /// One session was ended.
    static func ended(_ id: Bytes, at server: ServerURL) -> Text {
        """
        session \(id) at \(server) has ended. Services that do not check with the server may \
        accept its access token for a few more minutes
        """
    }

    /// All sessions were ended.
    static func endedAll(_ count: UInt32, at server: ServerURL) -> Text {
        """
        sessions ended at \(server): \(number: count). Services that do not check with the server \
        may accept their access tokens for a few more minutes
        """
    }
}
