// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol

/// `signet import-fprintd`: enrols the account's prints that fprintd has stored.
///
/// It exits with `.denied` unless every file was imported or is already enrolled.
struct ImportCommand: Command {
    static let helpPosition = 190
    static let syntax = CommandSyntax(
        "import-fprintd", summary: "import the fingers that fprintd has stored, without a new scan",
        options: [.account, .passwordStdin, .json])

    let run: Invocation

    /// `signet import-fprintd`
    func perform() throws(CommandFault) {
        let account = try run.account()
        var foretold = Foretold()
        var prints: [ImportedPrintAnswer] = []
        var done: DoneAnswer?
        do throws(CommandFault) {
            done = try takeOver(account, prints: &prints, foretold: &foretold)
        } catch {
            // Prints that were imported before the fault remain enrolled.
            if !run.isJSON, !prints.isEmpty { Self.table(prints).forEach(run.environment.say) }
            throw error
        }
        run.say(
            Self.document(prints, done: done ?? DoneAnswer(), account: account),
            lines(prints, done: done ?? DoneAnswer(), foretold: foretold, account: account))
        let isComplete = prints.allSatisfy { $0.outcome == .imported || $0.outcome == .known }
        guard !prints.isEmpty, isComplete else { throw .said(.denied) }
    }

    /// Sends the request and collects the result for each file.
    private func takeOver(
        _ account: AccountName, prints: inout [ImportedPrintAnswer], foretold: inout Foretold
    ) throws(CommandFault) -> DoneAnswer {
        var progress = Progress(run.environment, isJSON: run.isJSON)
        defer { progress.end() }
        var result = DoneAnswer()
        // Files are shown only once, even if the password must be repeated.
        var shown: [ImportedPrintAnswer] = []
        var last = Foretold()
        defer { foretold = last }
        var forecast = ForecastReading { told in
            last = told
            FingerExchange(run: run).warn(of: told)
        }
        // No touch is needed, but requests served first may take as long as one.
        try run.exchange(.importPrint(account: account), awaitsTouch: true).run {
            (answer) throws(CommandFault) in
            switch answer {
            case .notice(let notice):
                progress.show(notice)
                return .goOn
            case .importedPrint(let print) where print.outcome == nil:
                if !shown.contains(print) { show(print, of: account, isFirst: shown.isEmpty) }
                shown.append(print)
                return .goOn
            case .importedPrint(let print):
                prints.append(print)
                return .goOn
            case .done(let done):
                result = done
                return .finished
            default:
                guard forecast.take(answer) else { throw .fault(CommonMessages.unexpected) }
                return .goOn
            }
        }
        return result
    }

    /// Shows a file that may be imported, before the user enters the password.
    private func show(_ print: ImportedPrintAnswer, of account: AccountName, isFirst: Bool) {
        guard !run.isJSON else { return }
        if isFirst { run.environment.say(ImportMessages.decide(account)) }
        run.environment.say(
            "  \(ImportMessages.found(print.name, written: print.since.map(Text.date), place: print.place))"
        )
        guard let since = print.since, let born = run.environment.homeBirth(account),
            since < UInt64(clamping: born)
        else { return }
        run.environment.say(
            "  \(ImportMessages.olderThanHome(account, born: .date(UInt64(clamping: born))))")
    }

    private static func table(_ prints: [ImportedPrintAnswer]) -> [Text] {
        Table.lines([ImportMessages.heading] + prints.map(\.row))
    }

    private func lines(
        _ prints: [ImportedPrintAnswer], done: DoneAnswer, foretold: Foretold,
        account: AccountName
    ) -> [Text] {
        guard !prints.isEmpty else { return [ImportMessages.nothing(account)] }
        let count = prints.count { $0.outcome == .imported }
        var lines = Self.table(prints)
        lines.append(
            ImportMessages.takenOver(
                UInt8(clamping: count), account: account, prints: done.prints ?? 0))
        let isHere = done.prints != 0
        if isHere, let state = done.state {
            lines += FingerExchange(run: run).loginLines(state, account: account)
        }
        if let keyring = done.keyring {
            lines.append(FingerMessages.keyring(keyring, account: account))
        }
        if let secrets = done.secrets { lines.append(SecretMessages.ended(secrets)) }
        lines += FingerExchange(run: run).sshKeyLines(done)
        if count > 0 { lines += foretold.ended }
        if let setting = done.keptOut {
            lines.append(StatusText.keptOut(account, setting: setting))
        }
        guard count > 0 else { return lines }
        return lines + [ImportMessages.leftovers(account), ImportMessages.notFprintdDelete]
    }

    private static func document(
        _ prints: [ImportedPrintAnswer], done: DoneAnswer, account: AccountName
    ) -> JSON {
        .document(
            "imported",
            members: [
                ("account", .bytes(account.bytes)), ("prints", .array(prints.map(\.document))),
                ("fingers", .optional(done.prints) { .number(UInt64($0)) }),
                ("login", .optional(done.state) { .string($0.word) }),
                ("keyring", .optional(done.keyring) { .string($0.word) }),
                ("keptOut", .optional(done.keptOut, JSON.bytes)),
                ("secretsEnded", .number(UInt64(done.secrets ?? 0))),
                ("sshKeysKept", .number(UInt64(done.sshKeysKept ?? 0))),
                ("sshKeysEnded", .number(UInt64(done.sshKeysEnded ?? 0))),
            ])
    }
}

extension ImportedPrintAnswer {
    fileprivate var name: Text { finger?.word.text ?? TableText.none }

    fileprivate var row: [Text] {
        [
            name, "\(place)",
            since.map(Text.date) ?? TableText.unknown,
            outcome.map { ImportMessages.result($0, subject: subject) } ?? "",
        ]
    }

    fileprivate var document: JSON {
        .object([
            ("finger", .optional(finger) { .string($0.word) }), ("file", .bytes(place)),
            ("written", .optional(since, JSON.number)),
            ("outcome", .optional(outcome) { .string($0.word) }),
            (
                "text",
                .optional(outcome) { .bytes(ImportMessages.result($0, subject: subject).bytes) }
            ),
        ])
    }
}

/// Messages of `signet import`.
enum ImportMessages {
    /// The heading above the files.
    static let heading: [Text] = [
        "finger", "fprintd's file", "written", "result",
    ]
    /// The heading above fprintd's fingers, before the password prompt.
    static func decide(_ account: AccountName) -> Text {
        """
        fprintd has stored these fingers under the name \(account), which may have belonged to \
        another account before. Continue only if they are yours: anyone with one of these fingers \
        can log in
        """
    }

    /// A finger that fprintd stores.
    static func found(_ finger: Text, written: Text?, place: Bytes) -> Text {
        guard let written else { return "\(finger) (\(place))" }
        return "\(finger), written on \(written) (\(place))"
    }

    /// A file of fprintd's is older than the account's home directory.
    static func olderThanHome(_ account: AccountName, born: Text) -> Text {
        """
        this is older than the home directory of \(account), created on \(born): does it belong to \
        a former account of this name?
        """
    }

    /// There is nothing to import.
    static func nothing(_ account: AccountName) -> Text {
        """
        fprintd has stored no fingerprints of \(account) in /var/lib/fprint. Run 'signet enroll' \
        to add a finger
        """
    }

    /// How many were imported, and how many fingers are enrolled now.
    static func takenOver(_ count: UInt8, account: AccountName, prints: UInt8) -> Text {
        count == 1
            ? "1 finger was imported for \(account): \(FingerMessages.fingers(prints)) in total"
            : """
            \(number: count) fingers were imported for \(account): \
            \(FingerMessages.fingers(prints)) in total
            """
    }

    /// What remains stored by fprintd, and what to do about it.
    static func leftovers(_ account: AccountName) -> Text {
        """
        fprintd's own files are unchanged. Once a touch works, install the package \
        signet-fprint-compat, which takes fprintd's place, and remove the files with 'sudo rm -r \
        /var/lib/fprint/\(account)'
        """
    }

    /// Why not to use `fprintd-delete` if a reader stores the prints.
    static let notFprintdDelete: Text =
        """
        do not use 'fprintd-delete' with a reader that stores prints itself: it also deletes them \
        from the reader
        """

    /// The result for a file, and the reason; `subject` is the daemon's detail.
    static func result(_ outcome: ImportOutcome, subject: Bytes?) -> Text {
        switch outcome {
        case .imported: "imported"
        case .known: "already enrolled"
        case .duplicate: "not imported: this print is enrolled as another finger"
        case .fingerKnown:
            """
            not imported: another print of this finger is enrolled. To import this one, run \
            'signet delete' first
            """
        case .fingerTaken: "not imported: another account has this print"
        case .full: "not imported: no more fingers can be added. See 'signet list'"
        case .noReader:
            "not imported: its reader is not connected, or not used. Connect it and try again"
        case .notOnReader:
            """
            not imported: the reader stores prints itself, and this one is not on it. Enrol the \
            finger with 'signet enroll'
            """
        case .readerFailed:
            subject.map { "not imported: the reader does not report what it stores: \($0)" }
                ?? "not imported: the reader does not report what it stores. Is fprintd using it?"
        case .otherReader: "not imported: it was made on a different reader than its directory says"
        case .otherFinger: "not imported: its file name says that it is another finger"
        case .otherAccount: "not imported: it is not a print of this account"
        case .malformed: "not imported: it is damaged, or not a print"
        case .tooLarge: "not imported: it is too large for a print"
        case .foreign: "not imported: fprintd does not use such a name for prints"
        case .notPlain: "not imported: it is a link, or not a file that fprintd creates"
        case .otherOwner: "not imported: it is not owned by root, so anyone may have put it there"
        case .writable: "not imported: users other than root can write to it"
        case .linked: "not imported: it has a second hard link, so it may be another user's file"
        case .unreadable:
            subject.map { "not imported: it could not be read: \($0)" }
                ?? "not imported: it could not be read"
        case .tooMany: "not examined, like all files after it: there are too many files"
        }
    }
}
