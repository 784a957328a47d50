import Texts
import Wire

extension Invocation {
    /// `signet readers`
    func readers() throws(CommandFault) {
        let readers = try readerAnswers()
        let document = JSON.document("readers", [("readers", .array(readers.map(\.document)))])
        guard !readers.isEmpty else { return say(document, [CommandOutcome.noReaders]) }
        say(document, Table.lines([CommandTable.readers] + readers.map(\.row)))
    }

    /// All readers that the daemon knows.
    func readerAnswers() throws(CommandFault) -> [ReaderAnswer] {
        try collect(.readers) { answer in
            if case .reader(let reader) = answer { return reader }
            return nil
        }
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

    /// As programs read it.
    var document: JSON {
        .object([
            ("id", .bytes(readerID)), ("name", .bytes(name)), ("driver", .bytes(driver)),
            ("scan", .string(scan.word)), ("stages", .number(UInt64(total))),
            ("features", .array(features.words.map { .string($0) })),
        ])
    }
}
