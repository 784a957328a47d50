// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol

/// `signet readers`: lists the readers, shows what one reports, and lists or deletes the prints
/// that they store.
struct ReadersCommand: Command {
    static let helpPosition = 90
    static let syntax = CommandSyntax(
        "readers", summary: "list the fingerprint readers of this machine",
        forms: [
            FormSyntax(), FormSyntax(.watch, isForRoot: true),
            FormSyntax(.prints, isForRoot: true),
            FormSyntax(.deleteForeign, isForRoot: true),
            FormSyntax(
                .clear, options: [.force(summary: "with --clear: confirm that all are deleted")],
                isForRoot: true),
        ], options: [.reader, .json])

    let run: Invocation

    /// Lists the readers, or does what an option asks for.
    func perform() throws(CommandFault) {
        let actions: [(OptionSyntax, StorageAction)] = [
            (.prints, .list), (.deleteForeign, .deleteForeign), (.clear, .clear),
        ]
        let asked = actions.filter { run.arguments.has($0.0) }
        if run.arguments.has(.watch) {
            var watch = ReaderWatchOutput(run: run)
            return try watch.follow(run.arguments.value(.reader)?.bytes)
        }
        if let (_, action) = asked.first { return try stored(action) }
        guard run.arguments.value(.reader) == nil else {
            throw .usage(ReadersMessages.oneOfStorage)
        }
        let readers = try readerAnswers()
        let document = JSON.document(
            "readers", members: [("readers", .array(readers.map(\.document)))])
        guard !readers.isEmpty else { return run.say(document, [ReadersMessages.noReaders]) }
        run.say(document, Table.lines([ReadersMessages.readers] + readers.map(\.row)))
    }

    private func stored(_ action: StorageAction) throws(CommandFault) {
        guard action != .clear || run.arguments.has(.force) else {
            throw .usage(ReadersMessages.clearWantsForce)
        }
        var done = DoneAnswer()
        let request = ReaderPrintsRequest(action, readerID: run.arguments.value(.reader)?.bytes)
        let prints: [StoredPrintAnswer] = try run.collect(.readerPrints(request), last: &done) {
            $0.own()
        }
        let members: [(name: String, value: JSON)] = [
            ("prints", .array(prints.map(\.document)))
        ]
        let lines =
            prints.isEmpty
            ? [ReadersMessages.noStoredPrints]
            : Table.lines([ReadersMessages.storedPrints] + prints.map(\.row))
        let notes = action == .clear ? [] : try mute().map(ReadersMessages.cannotList)
        run.say(
            action == .list
                ? .document("stored-prints", members: members)
                : .document("deleted-prints", members: members),
            (action == .list ? lines : [ReadersMessages.deletedPrints(done.prints ?? 0)]) + notes)
    }

    /// The ids of the readers concerned that store prints but cannot list them.
    private func mute() throws(CommandFault) -> [Bytes] {
        let asked = run.arguments.value(.reader)?.bytes
        return try readerAnswers().filter { reader in
            reader.features.contains(.storage) && !reader.features.contains(.storageList)
                && (asked == nil || reader.readerID == asked)
        }.map(\.readerID)
    }

    /// Requests all readers.
    func readerAnswers() throws(CommandFault) -> [ReaderAnswer] {
        try run.collect(.readers) { answer in
            if case .reader(let reader) = answer { return reader }
            return nil
        }
    }
}

extension StoredPrintAnswer {
    fileprivate var row: [Text] {
        [
            "\(readerID)", account.map { "\($0)" } ?? ReadersMessages.foreign,
            finger.map { $0.word.text } ?? TableText.unknown,
        ]
    }

    fileprivate var document: JSON {
        .object([
            ("reader", .bytes(readerID)), ("account", .optional(account) { .bytes($0.bytes) }),
            ("finger", .optional(finger) { .string($0.word) }),
            ("name", .optional(subject) { .bytes($0) }),
        ])
    }
}

extension ReaderAnswer {
    fileprivate var row: [Text] {
        let words = features.words.joined(separator: ", ").text
        return [
            "\(readerID)", "\(name)", "\(driver)", scan.word.text, "\(number: total)",
            words.bytes.isEmpty ? TableText.none : words,
        ]
    }

    /// The reader in JSON.
    var document: JSON {
        .object([
            ("id", .bytes(readerID)), ("name", .bytes(name)), ("driver", .bytes(driver)),
            ("scan", .string(scan.word)), ("stages", .number(UInt64(total))),
            ("features", .array(features.words.map { .string($0) })),
        ])
    }
}

extension OptionSyntax {
    fileprivate static let watch = OptionSyntax(
        "watch", summary: "show what a reader reports while you try fingers on it; root only")
    fileprivate static let prints = OptionSyntax(
        "prints", summary: "list the fingerprints on the readers, and their owners; root only")
    fileprivate static let deleteForeign = OptionSyntax(
        "delete-foreign",
        summary: "delete fingerprints that belong to no account here from the readers; root only")
    fileprivate static let clear = OptionSyntax(
        "clear",
        summary:
            "delete all fingerprints from the readers, including those of accounts here; root only")
}

/// Messages of `signet readers`.
enum ReadersMessages {
    /// Nothing to list.
    static let noReaders: Text =
        "no fingerprint reader was found. Is one plugged in, and supported by libfprint?"

    /// `readers --prints`, without any prints.
    static let noStoredPrints: Text =
        "no fingerprints are known to be stored on the readers"

    /// `readers --prints` and `--delete-foreign`: the reader stores prints but does not list them.
    static func cannotList(_ reader: Bytes) -> Text {
        """
        \(reader) does not report which fingerprints it stores: those of other systems can be \
        deleted only together with all others, with 'signet readers --clear --force --reader \
        \(reader)'
        """
    }

    /// How many prints were deleted from readers.
    static func deletedPrints(_ count: UInt8) -> Text {
        "fingerprints deleted from readers: \(number: count)"
    }

    /// `readers --clear` without its other option.
    static let clearWantsForce: Text =
        """
        this deletes all fingerprints from the readers, including those of accounts here: add \
        '--force' to confirm
        """

    /// `readers` with more than one action.
    static let oneOfStorage: Text =
        "choose one of '--watch', '--prints', '--delete-foreign' and '--clear'"

    /// The column headings for readers.
    static let readers: [Text] = ["id", "name", "driver", "scan", "stages", "features"]
    /// The column headings for prints stored on readers.
    static let storedPrints: [Text] = ["reader", "account", "finger"]
    /// In place of an account: no account here has the print.
    static let foreign: Text = "none (another system's)"
}
