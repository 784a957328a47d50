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
    static let syntax = CommandSyntax(
        "import-fprintd", summary: "import the fingers that fprintd has stored, without a new scan",
        options: [.account, .passwordStdin, .json])

    let run: Invocation

    /// `signet import-fprintd`
    func perform() throws(CommandFault) {
        let account = try run.account()
        var prints: [ImportedPrintAnswer] = []
        var done: DoneAnswer?
        do throws(CommandFault) {
            done = try takeOver(account, prints: &prints)
        } catch {
            // Prints that were imported before the fault remain enrolled.
            if !run.isJSON, !prints.isEmpty { Self.table(prints).forEach(run.environment.say) }
            throw error
        }
        run.say(
            Self.document(prints, done: done ?? DoneAnswer(), account: account),
            lines(prints, done: done ?? DoneAnswer(), account: account))
        let isComplete = prints.allSatisfy { $0.outcome == .imported || $0.outcome == .known }
        guard !prints.isEmpty, isComplete else { throw .said(.denied) }
    }

    /// Sends the request and collects the result for each file.
    private func takeOver(
        _ account: AccountName, prints: inout [ImportedPrintAnswer]
    ) throws(CommandFault) -> DoneAnswer {
        var progress = Progress(run.environment, isJSON: run.isJSON)
        defer { progress.end() }
        var result = DoneAnswer()
        // Files are shown only once, even if the password must be repeated.
        var shown: [ImportedPrintAnswer] = []
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
            default: throw .fault(CommandText.unexpected)
            }
        }
        return result
    }

    /// Shows a file that may be imported, before the user enters the password.
    private func show(_ print: ImportedPrintAnswer, of account: AccountName, isFirst: Bool) {
        guard !run.isJSON else { return }
        if isFirst { run.environment.say(CommandImport.decide(account)) }
        run.environment.say(
            "  \(CommandImport.found(print.name, written: print.since.map(Text.date), place: print.place))"
        )
        guard let since = print.since, let born = run.environment.homeBirth(account),
            since < UInt64(clamping: born)
        else { return }
        run.environment.say(
            "  \(CommandImport.olderThanHome(account, born: .date(UInt64(clamping: born))))")
    }

    private static func table(_ prints: [ImportedPrintAnswer]) -> [Text] {
        Table.lines([CommandImport.heading] + prints.map(\.row))
    }

    private func lines(
        _ prints: [ImportedPrintAnswer], done: DoneAnswer, account: AccountName
    ) -> [Text] {
        guard !prints.isEmpty else { return [CommandImport.nothing(account)] }
        let count = prints.count { $0.outcome == .imported }
        var lines = Self.table(prints)
        lines.append(
            CommandImport.takenOver(
                UInt8(clamping: count), account: account, prints: done.prints ?? 0))
        let isHere = done.prints != 0
        if isHere, let state = done.state {
            lines += FingerRequests(run: run).loginLines(state, account: account)
        }
        if let keyring = done.keyring {
            lines.append(CommandOutcome.keyring(keyring, account: account))
        }
        if let secrets = done.secrets { lines.append(CommandSecrets.ended(secrets)) }
        if let setting = done.keptOut {
            lines.append(CommandStatus.keptOut(account, setting: setting))
        }
        guard count > 0 else { return lines }
        return lines + [CommandImport.leftovers(account), CommandImport.notFprintdDelete]
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
            ])
    }
}

extension ImportedPrintAnswer {
    fileprivate var name: Text { finger?.word.text ?? CommandTable.none }

    fileprivate var row: [Text] {
        [
            name, "\(place)",
            since.map(Text.date) ?? CommandTable.unknown, outcome?.text(subject) ?? "",
        ]
    }

    fileprivate var document: JSON {
        .object([
            ("finger", .optional(finger) { .string($0.word) }), ("file", .bytes(place)),
            ("written", .optional(since, JSON.number)),
            ("outcome", .optional(outcome) { .string($0.word) }),
            ("text", .optional(outcome) { .bytes($0.text(subject).bytes) }),
        ])
    }
}
