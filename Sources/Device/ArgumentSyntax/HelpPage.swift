// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// The help of a program: for the program, for a group of commands, or for one command.
extension ProgramSyntax {
    /// Returns the lines for the command or group with this name; empty words mean the program.
    package func help(of words: [String]) -> [Text] {
        if let command = command(words), !words.isEmpty { return page(of: command) }
        return overview(of: words)
    }

    private func page(of command: CommandSyntax) -> [Text] {
        [Self.title(call(command.words).bytes, summary: command.summary), ""] + usage(of: command)
            + [""]
            + Self.options(options(of: command))
    }

    /// The commands whose names begin with these words; for the program, its own options too.
    private func overview(of words: [String]) -> [Text] {
        let group = groups.first { $0.name.split(separator: " ").map(String.init) == words }
        var lines = [Self.title(call(words).bytes, summary: group?.summary ?? summary), ""]
        let own = command(words)
        lines += own.map(usage) ?? []
        let below = commands(below: words)
        if !below.isEmpty {
            let call = Self.anyCommand(call(words).bytes)
            lines.append(own == nil ? Self.usage(call) : Self.alsoUsage(call))
        }
        lines.append("")
        // If the program itself does something, only the groups are listed; each has help of its
        // own.
        let isListed = own == nil
        if !below.isEmpty {
            let rows: [(Text, Text)] =
                isListed
                ? below.map { ($0.name.text, $0.summary) }
                : groups.map { ($0.name.text, $0.summary) }
            lines += [Self.commands] + Self.indented(rows) + [""]
        }
        let options =
            own.map { self.options(of: $0) }
            ?? groupOptions(at: words) + (words.isEmpty ? [.version] : []) + [.help]
        lines += Self.options(options)
        if !below.isEmpty { lines += ["", Self.more(Self.anyCommand(call(words).bytes))] }
        return lines + (notes.isEmpty ? [] : [""] + notes.map { "\(wrapped: $0, after: [])" })
    }

    /// The usage lines, one for each way to call a command.
    private func usage(of command: CommandSyntax) -> [Text] {
        command.synopses.enumerated().map { index, parts in
            let line = ([call(command.words)] + (parts.isEmpty ? [] : [parts.shown]))
                .joined(separator: " ").text
            return index == 0 ? Self.usage(line) : Self.alsoUsage(line)
        }
    }

    private static func options(_ options: [OptionSyntax]) -> [Text] {
        [Self.options] + indented(options.map { ($0.shown.text, $0.summary) })
    }

    private static func indented(_ rows: [(Text, Text)]) -> [Text] {
        let names = rows.map(\.0)
        return rows.map { "  \(cell: $0.0, column: names)\(wrapped: $0.1, after: names)" }
    }
}
