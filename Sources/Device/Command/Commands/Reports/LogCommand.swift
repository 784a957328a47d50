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

/// All answers of the daemon to a request for receipts.
struct LogAnswers {
    var receipts: [ReceiptAnswer] = []
    var refusals: [Refusal] = []
    var signers: [Bytes] = []
    var head: (counter: UInt64, digest: Bytes)?
    /// Why the daemon could not read further receipts; nil if it read them all.
    var damage: Denial?

    /// The signers as an allowed_signers file; ssh-keygen(1).
    var signersFile: Bytes { signers.flatMap { $0 + [10] } }
}

/// `signet log`: shows, verifies or exports the account's receipts.
struct LogCommand: Command {
    static let helpPosition = 110
    static let syntax = CommandSyntax(
        "log", summary: "list the receipts of an account's logins",
        forms: [
            FormSyntax(), FormSyntax(.verify), FormSyntax(.export, .to), FormSyntax(.signers),
        ], options: [.account, .json])

    let run: Invocation

    /// `signet log`, with `--verify`, `--export N --to DIRECTORY` or `--signers`
    func perform() throws(CommandFault) {
        let account = try run.account()
        let answers = try logAnswers(account)
        if run.arguments.has(.verify) { return try check(answers, account: account) }
        if let number = run.arguments.number(.export) {
            return try export(answers, number: UInt64(clamping: number), account: account)
        }
        if run.arguments.has(.signers) { return saySigners(answers, account: account) }
        sayReceipts(answers, account: account)
        if let damage = answers.damage { throw .denied(damage, account: account) }
    }

    private func logAnswers(_ account: AccountName) throws(CommandFault) -> LogAnswers {
        var answers = LogAnswers()
        do throws(CommandFault) {
            try collect(&answers, account: account)
        } catch .denied(let denial, _) where denial.reason == .storage && answers.head != nil {
            answers.damage = denial
        }
        return answers
    }

    private func collect(
        _ answers: inout LogAnswers, account: AccountName
    ) throws(CommandFault) {
        let request = Request.log(LogRequest(account: account))
        try run.exchange(request).run { (answer) throws(CommandFault) in
            switch answer {
            case .receipt(let receipt): answers.receipts.append(receipt)
            case .refusal(let refusal): answers.refusals.append(refusal)
            case .signer(let line): answers.signers.append(line.withoutLineEnd)
            case .chainHead(let counter, let digest): answers.head = (counter, digest)
            case .done: return .finished
            default: throw .fault(CommonMessages.unexpected)
            }
            return .goOn
        }
    }

    private func sayReceipts(_ answers: LogAnswers, account: AccountName) {
        let document = JSON.document(
            "log",
            members: [
                ("account", .bytes(account.bytes)),
                ("receipts", .array(answers.receipts.map(\.document))),
                ("refusals", .array(answers.refusals.map(\.document))),
            ])
        guard !answers.receipts.isEmpty || !answers.refusals.isEmpty else {
            return run.say(document, [LogMessages.noReceipts(account)])
        }
        run.say(document, answers.lines(of: account))
        let isAsked = answers.receipts.contains { receipt in
            (try? Statement(parsing: receipt.statement))?.server?.mode == .online
        }
        if isAsked && !run.isJSON { run.environment.complain(LogMessages.asked) }
        let isAnyUnused = answers.receipts.contains { receipt in
            (try? Statement(parsing: receipt.statement)).map(receipt.isUnused) ?? false
        }
        if isAnyUnused && !run.isJSON { run.environment.complain(LogMessages.unused) }
        explainGaps(in: answers)
    }

    /// Says why numbers are missing between the receipts, if any are.
    func explainGaps(in answers: LogAnswers) {
        guard answers.hasGaps, !run.isJSON else { return }
        run.environment.complain(LogMessages.gaps)
    }

    private func saySigners(_ answers: LogAnswers, account: AccountName) {
        let lines = answers.signers.map { Text(escaping: $0) }
        run.say(
            .document(
                "signers",
                members: [
                    ("account", .bytes(account.bytes)),
                    ("signers", .array(lines.map { .bytes($0.bytes) })),
                ]),
            lines)
    }

    private func export(
        _ answers: LogAnswers, number: UInt64, account: AccountName
    ) throws(CommandFault) {
        let found = answers.receipts.first { receipt in
            (try? Statement(parsing: receipt.statement))?.counter == number
        }
        guard let receipt = found else {
            throw .refused(LogMessages.noReceipt(number, account: account))
        }
        let directory = run.arguments.value(.to) ?? "."
        let files: [(String, Bytes)] = [
            ("\(directory)/statement", receipt.statement),
            ("\(directory)/statement.sig", Armour.wrap(receipt.signature)),
            ("\(directory)/signers", answers.signersFile),
        ]
        for (path, _) in files where exists(path) {
            throw .refused(LogMessages.exists(path.bytes))
        }
        do throws(SystemFault) {
            try makeDirectory(directory)
            for (path, bytes) in files { try createFile(path, bytes: bytes) }
        } catch { throw .system(error) }
        run.say(
            .document(
                "exported",
                members: [
                    ("account", .bytes(account.bytes)), ("counter", .number(number)),
                    ("files", .array(files.map { .string($0.0) })),
                ]),
            [
                LogMessages.exported(number, directory: directory.bytes),
                LogMessages.checkCommand(account, namespace: receipt.namespace),
            ])
    }
}

extension LogAnswers {
    /// Whether the numbers of the receipts, up to the newest that the daemon has given out, are not
    /// consecutive.
    var hasGaps: Bool {
        var next: UInt64 = 1
        for receipt in receipts {
            guard let counter = (try? Statement(parsing: receipt.statement))?.counter else {
                return false
            }
            guard counter == next else { return true }
            next = counter &+ 1
        }
        return false
    }

    /// Formats one line per receipt and refusal, in order of time; receipts keep their order in the
    /// log.
    fileprivate func lines(of account: AccountName) -> [Text] {
        var lines: [Text] = []
        var refusals = refusals[...]
        for (index, receipt) in receipts.enumerated() {
            guard let statement = try? Statement(parsing: receipt.statement) else {
                lines.append(LogMessages.unreadable(position: UInt64(index + 1)))
                continue
            }
            while let next = refusals.first, next.until < statement.issued.seconds {
                lines.append(LogMessages.line(next, of: account))
                refusals.removeFirst()
            }
            lines.append(LogMessages.line(statement, isUnused: receipt.isUnused(statement)))
        }
        return lines + refusals.map { LogMessages.line($0, of: account) }
    }
}

extension Refusal {
    /// The refusal in JSON.
    fileprivate var document: JSON {
        .object([
            ("reason", .string(reason.word)), ("service", .bytes(LogMessages.what(self))),
            ("terminal", .bytes(terminal)), ("requester", .bytes(requester.bytes)),
            ("count", .number(UInt64(count))),
            ("since", .bytes(Instant(seconds: since).text)),
            ("until", .bytes(Instant(seconds: until).text)),
        ])
    }
}

extension ReceiptAnswer {
    /// Whether the log says that the proof was not confirmed; version 1 did not record that.
    fileprivate func isUnused(_ statement: Statement) -> Bool {
        statement.version > 1 && !isGranted
    }

    /// The namespace of its signature; that of logins if the signature cannot be parsed.
    fileprivate var namespace: Bytes {
        (try? SSHSignature(blob: signature))?.namespace ?? SignatureNamespace.login.bytes
    }

    /// The receipt in JSON: the values of the statement, and the signed text itself.
    fileprivate var document: JSON {
        guard let statement = try? Statement(parsing: self.statement) else {
            return .object([("readable", .bool(false))])
        }
        return .object([
            ("readable", .bool(true)), ("counter", .number(statement.counter)),
            ("granted", statement.version > 1 ? .bool(isGranted) : .null),
            ("issued", .bytes(statement.issued.text)),
            ("audience", .bytes(statement.audience.bytes)),
            ("account", .bytes(statement.account.bytes)), ("uid", .number(UInt64(statement.uid))),
            ("requester", .optional(statement.named) { .bytes($0) }),
            ("service", .bytes(statement.service.bytes)), ("terminal", .bytes(statement.terminal)),
            ("purpose", .bytes(statement.purpose)),
            ("command", .optional(statement.digest) { .bytes(Hexadecimal.encode($0)) }),
            ("factor", .bytes(statement.factor)),
            ("server", .optional(statement.server) { .bytes($0.url.bytes) }),
            ("serverAccount", .optional(statement.server) { .bytes($0.account.bytes) }),
            ("serverMode", .optional(statement.server) { .bytes($0.mode.word.bytes) }),
            ("enrolment", .number(statement.enrolment)),
            ("credential", .bytes(statement.credential.hexadecimal)),
            ("namespace", .bytes(namespace)), ("statement", .bytes(self.statement)),
            ("signature", .bytes(Armour.wrap(signature))),
        ])
    }
}

extension Statement {
    /// The requester; nil if the statement's version does not record it.
    fileprivate var named: Bytes? { requester.isEmpty ? nil : requester.bytes }

    /// The digest of the command line; nil if there was none or the version does not record it.
    fileprivate var digest: Bytes? { command.isEmpty ? nil : command }
}

extension Bytes {
    fileprivate var withoutLineEnd: Bytes { last == 10 ? dropLast() : self }
}

extension OptionSyntax {
    fileprivate static let verify = OptionSyntax(
        "verify", summary: "check signatures, counters and the chain of receipts")
    fileprivate static let export = OptionSyntax(
        "export",
        ValueSyntax("N", kind: .number(0...Int64.max)) { word in
            LogMessages.notNumber(word, option: "--export".bytes)
        }, summary: "write receipt N to files that ssh-keygen -Y verify accepts")
    fileprivate static let to = OptionSyntax(
        "to", ValueSyntax("DIRECTORY", kind: .directory),
        summary: "the directory for --export; created if it does not exist")
    fileprivate static let signers = OptionSyntax(
        "signers", summary: "print the public keys as an allowed_signers file")
}

/// The lines of `signet log`.
enum LogMessages {
    /// Nothing to list.
    static func noReceipts(_ account: AccountName) -> Text {
        "there are no receipts for \(account)"
    }

    /// A receipt was written to files.
    static func exported(_ number: UInt64, directory: Bytes) -> Text {
        "receipt #\(number: number) is in \(directory). To check it, run in that directory:"
    }

    /// The standard command that verifies it.
    static func checkCommand(_ account: AccountName, namespace: Bytes) -> Text {
        // Untranslated: a command.
        """
        ssh-keygen -Y verify -f signers -I \(Shell.word(account)) -n \(namespace) \
        -s statement.sig < statement
        """
    }

    /// The receipt does not exist.
    static func noReceipt(_ number: UInt64, account: AccountName) -> Text {
        "there is no receipt #\(number: number) for \(account). See 'signet log'"
    }

    /// A file already exists.
    static func exists(_ path: Bytes) -> Text {
        "\(path) already exists and is not overwritten. Name another directory"
    }

    /// A value is not a number.
    static func notNumber(_ word: Bytes, option: Bytes) -> Text {
        "\(option) needs the number of a receipt, not \(word). See 'signet log'"
    }

    /// One receipt; `isUnused` if the proof was given but not confirmed.
    static func line(_ statement: Statement, isUnused: Bool = false) -> Text {
        let terminal = short(statement.terminal)
        let at: Text = terminal.isEmpty ? "" : " \(terminal)"
        let isOwn = statement.requester.isEmpty || statement.requester == statement.account
        let asker: Text = isOwn ? "" : ", asked by \(statement.requester)"
        let purpose: Text = statement.purpose.isEmpty ? "" : " \"\(statement.purpose)\""
        let server: Text = statement.server.map { ", \(mode(of: $0))" } ?? ""
        let use: Text = isUnused ? ", \(notGranted)" : ""
        return """
            #\(number: statement.counter) \(time(statement.issued.seconds)) \(statement.service)\(at)\(purpose) \
            \(statement.factor)\(server)\(asker)\(use)
            """
    }

    /// A terminal without `/dev/`.
    static func short(_ terminal: Bytes) -> Bytes {
        let device = StaticString("/dev/").bytes
        return terminal.starts(with: device) ? Bytes(terminal.dropFirst(device.count)) : terminal
    }

    /// The time at the start of a line.
    static func time(_ seconds: UInt64) -> Bytes {
        Bytes(Instant(seconds: seconds).text.map { $0 == UInt8(ascii: "T") ? 0x20 : $0 })
    }

    /// After a receipt: the server at which the user also logged in.
    private static func mode(of server: ServerLines) -> Text {
        switch server.mode {
        case .online: "asked \(server.url) as \(server.account)"
        case .offline: "not asked: \(server.url) (as \(server.account))"
        }
    }

    /// After a receipt whose proof was not used.
    private static let notGranted: Text = "not granted"
    /// Below such receipts.
    static let unused: Text =
        "'not granted': the finger matched, but the request was not granted afterwards"

    /// Below receipts whose numbers are not consecutive.
    static let gaps: Text =
        """
        a number that is skipped belongs to a touch that was asked for and not completed: the number \
        is used up before the finger is awaited. No receipt is missing there: 'signet log --verify' \
        checks that each one names the receipt before it
        """

    /// Below receipts of logins at servers.
    static let asked: Text =
        "'asked' does not mean approved: the server's answer is in its own audit trail"

    /// A receipt that cannot be read.
    static func unreadable(position: UInt64) -> Text {
        "the receipt at position \(number: position) cannot be read: see 'signet log --verify'"
    }

    /// Identical refused attempts.
    static func line(_ refusal: Refusal, of account: AccountName) -> Text {
        let terminal = LogMessages.short(refusal.terminal)
        let what = what(refusal)
        let words: Text = what.isEmpty ? aLogin : "\(what)"
        let at: Text = terminal.isEmpty ? "" : " \(terminal)"
        let isOwn = refusal.requester == account
        let asker: Text = isOwn ? "" : ", asked by \(refusal.requester)"
        let often: Text = refusal.count > 1 ? ", \(times(refusal))" : ""
        return """
            - \(LogMessages.time(refusal.until)) \(words)\(at) refused: \
            \(reason(refusal.reason, account: account))\(asker)\(often)
            """
    }

    /// The service that asked, or the command; empty if neither is known.
    static func what(_ refusal: Refusal) -> Bytes {
        guard refusal.service.isEmpty else { return refusal.service.bytes }
        let command = Request.type(kind: refusal.verb.rawValue)?.loggedCommand ?? ""
        return Bytes(command.utf8)
    }

    /// In place of an unknown service.
    private static let aLogin: Text = "login"
    /// How often, and since when.
    private static func times(_ refusal: Refusal) -> Text {
        "\(number: refusal.count) times since \(LogMessages.time(refusal.since))"
    }

    private static func reason(_ reason: DenialReason, account: AccountName) -> Text {
        switch reason {
        case .lockedForNow, .lockedUntilPassword:
            "too many failed scans"
        case .remoteSession: "the session was remote"
        case .notPermitted, .otherRequester: "only \(account) may ask for this"
        case .inBackground: "the request came from the background"
        case .notAtMachine: "nothing showed that the user was at this machine"
        case .answerTooLate: "the touch was not confirmed in time"
        case .changedMeanwhile: "the fingers, the key or the session changed after the touch"
        case .lidClosed: "the lid was closed"
        case .otherSeat: "the reader was at another seat"
        default: Denial(reason).text(account: account)
        }
    }
}
