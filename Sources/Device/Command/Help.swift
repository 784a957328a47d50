// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import JSONFormat
import LoginMessages

/// `signet help`: the overview of all commands, and a page for each.
struct HelpCommand: Command {
    static let description = CommandDescription(
        "help", CommandHelp.help, operands: ("[COMMAND]", 2))

    let run: Invocation

    /// Shows the overview, one command or one group of commands.
    func perform() throws(CommandFault) {
        let typed = run.arguments.operands
        guard let word = typed.first else { return show(HelpCommand.self) }
        let words = typed.joined(separator: " ")
        if let command = Commands.named(words) { return show(command) }
        let group = Commands.group(words)
        if !group.isEmpty { return show(group, of: words) }
        // A subcommand is described on the page of its command: 'vault migrate'.
        guard let first = Commands.named(word), first.description.besides.contains(typed[1])
        else { throw .usage(CommandText.unknownAction(words.bytes)) }
        show(first)
    }

    /// Shows the commands of a group.
    private func show(_ group: [any Command.Type], of word: String) {
        let commands = group.map { $0.description }
        let document = JSON.document(
            "help",
            [
                ("command", .string(word)),
                ("commands", .array(commands.map { .string($0.name) })),
                ("options", .array([])), ("exitCodes", Self.exitCodes),
            ])
        let rows = commands.map { ($0.name.text, $0.purpose) }
        run.say(
            document,
            [CommandHelp.usage("\(word) COMMAND".bytes), "", CommandHelp.commands]
                + Self.indented(rows) + ["", CommandHelp.more])
    }

    private static var exitCodes: JSON {
        .object(ExitCode.allCases.map { ("\($0.rawValue)", .bytes($0.text.bytes)) })
    }

    /// Shows one command; for `help` itself, the overview.
    func show(_ command: any Command.Type) {
        let shown = command.description
        let document = JSON.document(
            "help",
            [
                ("command", .string(shown.name)),
                ("commands", .array(Commands.all.map { .string($0.description.name) })),
                ("options", .array(shown.options.map { .string($0.option.name) })),
                ("exitCodes", Self.exitCodes),
            ])
        run.say(document, command == HelpCommand.self ? Self.overview : Self.page(shown))
    }

    private static var overview: [Text] {
        let commands = Commands.all.map { ($0.description.name.text, $0.description.purpose) }
        let codes = ExitCode.allCases.map { ("\($0.rawValue)".text, $0.text) }
        return [CommandHelp.summary, "", CommandHelp.usage, "", CommandHelp.commands]
            + indented(commands + [("--version", CommandHelp.version)])
            + ["", CommandHelp.more, "", CommandHelp.exitCodes] + indented(codes)
    }

    private static func page(_ command: CommandDescription) -> [Text] {
        let words = command.operands.shown.isEmpty ? "" : " \(command.operands.shown)"
        let options = command.options.map { taken in
            let name = taken.option.name + (taken.option.value.map { " \($0)" } ?? "")
            return (name.text, taken.purpose)
        }
        return [
            CommandHelp.title(command.name.bytes, command.purpose), "",
            CommandHelp.usage(command.name.bytes + words.bytes), "",
            CommandHelp.options,
        ] + indented(options)
    }

    private static func indented(_ rows: [(Text, Text)]) -> [Text] {
        Table.lines(rows.map { [$0.0, $0.1] }).map { "  \($0)" }
    }
}
