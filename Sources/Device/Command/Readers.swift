// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import JSONFormat
import LoginMessages
import LoginProtocol

/// `signet readers`: lists the readers, shows what one reports, and lists or deletes the prints that
/// they store.
struct ReadersCommand: Command {
    static let description = CommandDescription(
        "readers", CommandHelp.readers,
        options: [
            TakenOption(.watch, CommandHelp.watchReader),
            TakenOption(.prints, CommandHelp.prints),
            TakenOption(.deleteForeign, CommandHelp.deleteForeign),
            TakenOption(.clear, CommandHelp.clear), TakenOption(.reader, CommandHelp.reader),
            TakenOption(.force, CommandHelp.forceClear),
        ])

    let run: Invocation

    /// Lists the readers, or does what an option asks for.
    func perform() throws(CommandFault) {
        let actions: [(Option, StorageAction)] = [
            (.prints, .list), (.deleteForeign, .deleteForeign), (.clear, .clear),
        ]
        let asked = actions.filter { run.arguments.has($0.0) }
        let watches = run.arguments.has(.watch)
        guard asked.count + (watches ? 1 : 0) < 2 else { throw .usage(CommandText.oneOfStorage) }
        if watches {
            guard !run.arguments.has(.force) else { throw .usage(CommandText.oneOfStorage) }
            var watch = ReaderWatch(run: run)
            return try watch.follow(run.arguments.value(.reader)?.bytes)
        }
        if let (_, action) = asked.first { return try stored(action) }
        guard run.arguments.value(.reader) == nil, !run.arguments.has(.force) else {
            throw .usage(CommandText.oneOfStorage)
        }
        let readers = try readerAnswers()
        let document = JSON.document("readers", [("readers", .array(readers.map(\.document)))])
        guard !readers.isEmpty else { return run.say(document, [CommandOutcome.noReaders]) }
        run.say(document, Table.lines([CommandTable.readers] + readers.map(\.row)))
    }

    private func stored(_ action: StorageAction) throws(CommandFault) {
        guard action != .clear || run.arguments.has(.force) else {
            throw .usage(CommandText.clearWantsForce)
        }
        var done = DoneAnswer()
        let request = ReaderPrintsRequest(action, readerID: run.arguments.value(.reader)?.bytes)
        let prints = try run.collect(.readerPrints(request), &done) { answer in
            if case .storedPrint(let print) = answer { return print }
            return nil
        }
        let members: [(name: String, value: JSON)] = [
            ("prints", .array(prints.map(\.document)))
        ]
        let lines =
            prints.isEmpty
            ? [CommandOutcome.noStoredPrints]
            : Table.lines([CommandTable.storedPrints] + prints.map(\.row))
        let notes = action == .clear ? [] : try mute().map(CommandOutcome.cannotList)
        run.say(
            action == .list
                ? .document("stored-prints", members) : .document("deleted-prints", members),
            (action == .list ? lines : [CommandOutcome.deletedPrints(done.prints ?? 0)]) + notes)
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
            "\(readerID)", account.map { "\($0)" } ?? CommandTable.foreign,
            finger.map { $0.word.text } ?? CommandTable.unknown,
        ]
    }

    fileprivate var document: JSON {
        .object([
            ("reader", .bytes(readerID)), ("account", .optional(account) { .bytes($0) }),
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
            words.bytes.isEmpty ? CommandTable.none : words,
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
