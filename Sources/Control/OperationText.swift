// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import SignedFormats

extension OperationAnswer {
    /// The id in hexadecimal.
    var id: Bytes { Hexadecimal.encode(content.operation) }
    /// Enough of it to tell operations apart at a glance.
    var shortID: Bytes { Bytes(id.prefix(8)) }

    /// One line of a list: the text is cut there, and shown whole before it can be signed.
    ///
    /// The text has so many columns, or none; a narrow row tells only how long it can be decided.
    func row(_ now: UInt64, isNarrow: Bool, columns: Int) -> [Text] {
        let isShort = isNarrow && content.expires > now
        return [
            "\(shortID)", "\(server)", "\(content.template)",
            isShort
                ? CommandOperations.left(content.expires - now) : moment(content.expires, now),
            columns > 0 ? "\(beginning(columns))" : "",
        ]
    }

    /// All of it.
    func lines(_ now: UInt64, columns: Int?) -> [Text] {
        let values: [Text] = [
            "\(id)", "\(server)", "\(application)", "\(account)", "\(content.template)",
            moment(content.created, now), moment(content.expires, now),
            CommandOperations.state(state),
        ]
        var rows = zip(CommandOperations.labels, values).map { [$0, $1] }
        if let failures, failures.count > 0, let label = CommandOperations.labels.last {
            rows.append([label, CommandOperations.failures(failures)])
        }
        return Table.lines(rows) + [CommandOperations.text] + signedText(columns)
    }

    /// The text that is signed, each line of the terminal behind a bar: nothing in it can look like
    /// what this program says, however long a line of it is.
    private func signedText(_ columns: Int?) -> [Text] {
        var lines: [Text] = []
        for line in content.data.parts(between: 10) {
            var rest = Text(escaping: line).bytes[...]
            repeat {
                let part =
                    columns.map { Columns.prefix(of: Bytes(rest), columns: max(8, $0 - 5)) }
                    ?? Bytes(rest)
                lines.append("  | \(part)")
                rest = rest.dropFirst(max(1, part.count))
            } while !rest.isEmpty
        }
        return lines
    }

    /// The text's beginning, in one line.
    private func beginning(_ columns: Int) -> Bytes {
        let first = content.data.prefix { $0 != 10 }
        let whole = Text(escaping: Bytes(first)).bytes
        guard first.count < content.data.count || Columns.count(of: whole) > columns else {
            return whole
        }
        return Columns.prefix(of: whole, columns: columns - 1) + Bytes("…".utf8)
    }

    private func moment(_ seconds: UInt64, _ now: UInt64) -> Text {
        guard seconds > now else { return "\(Instant(seconds: seconds).text)" }
        return
            "\(Instant(seconds: seconds).text) (\(CommandOperations.left(seconds - now)))"
    }

    /// As programs read it.
    var document: JSON {
        .object([
            ("operation", .bytes(id)), ("server", .bytes(server)),
            ("application", .bytes(application)), ("name", .bytes(account)),
            ("template", .bytes(content.template)), ("data", .bytes(content.data)),
            ("state", .string(state.word)), ("created", JSON.instant(content.created)),
            ("expires", JSON.instant(content.expires)),
            ("failures", .optional(failures) { .number(UInt64($0.count)) }),
            ("maximumFailures", .optional(failures) { .number(UInt64($0.most)) }),
        ])
    }
}

extension ServerTroubleAnswer {
    /// The same as a denial of one server's.
    var denial: Denial { Denial(reason, subject: subject) }

    /// What to tell the person.
    func line(_ account: Bytes) -> Text {
        CommandOperations.trouble(server, denial.text(account: account))
    }

    /// As programs read it.
    func document(_ account: Bytes) -> JSON {
        .object([
            ("server", .bytes(server)), ("reason", .string(reason.word)),
            ("text", .bytes(denial.text(account: account).bytes)),
        ])
    }
}
