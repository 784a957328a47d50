// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages

/// `signet help`
struct HelpCommand {
    let run: Invocation

    /// `signet help`, for all or for one command.
    func help() throws(CommandFault) {
        guard !run.arguments.operands.isEmpty else { return help(for: .help) }
        let words = run.arguments.operands.joined(separator: " ")
        if let action = Action(rawValue: words) { return help(for: action) }
        if words == Action.secret { return helpForSecrets() }
        // What a command does besides is told on its own page: 'vault migrate'.
        guard let first = run.arguments.operands.first.flatMap(Action.init),
            first.besides.contains(run.arguments.operands[1])
        else { throw .usage(CommandText.unknownAction(words.bytes)) }
        help(for: first)
    }

    /// The commands that begin with `secret`.
    func helpForSecrets() {
        let actions = Action.allCases.filter { $0.rawValue.hasPrefix("\(Action.secret) ") }
        let document = JSON.document(
            "help",
            [
                ("command", .string(Action.secret)),
                ("commands", .array(actions.map { .string($0.rawValue) })),
                ("options", .array([])), ("exitCodes", Self.exitCodes),
            ])
        let rows = actions.map { ($0.rawValue.text, $0.purpose) }
        run.say(
            document,
            [CommandHelp.usage("\(Action.secret) COMMAND".bytes), "", CommandHelp.commands]
                + Self.indented(rows) + ["", CommandHelp.more])
    }

    private static var exitCodes: JSON {
        .object(ExitCode.allCases.map { ("\($0.rawValue)", .bytes($0.text.bytes)) })
    }

    /// What a command takes; for `help` itself, all there is.
    func help(for action: Action) {
        let options = action.options
        let document = JSON.document(
            "help",
            [
                ("command", .string(action.rawValue)),
                ("commands", .array(Action.allCases.map { .string($0.rawValue) })),
                ("options", .array(options.map { .string($0.name) })),
                ("exitCodes", Self.exitCodes),
            ])
        run.say(document, action == .help ? Self.overview : Self.page(action))
    }

    private static var overview: [Text] {
        let commands = Action.allCases.map { ($0.rawValue.text, $0.purpose) }
        let codes = ExitCode.allCases.map { ("\($0.rawValue)".text, $0.text) }
        return [CommandHelp.summary, "", CommandHelp.usage, "", CommandHelp.commands]
            + indented(commands + [("--version", CommandHelp.version)])
            + ["", CommandHelp.more, "", CommandHelp.exitCodes] + indented(codes)
    }

    private static func page(_ action: Action) -> [Text] {
        let words = action.operands.name.isEmpty ? "" : " \(action.operands.name)"
        let options = action.options.map { option in
            let name = option.name + (option.value.map { " \($0)" } ?? "")
            return (name.text, option.purpose(for: action))
        }
        return [
            CommandHelp.title(action.rawValue.bytes, action.purpose), "",
            CommandHelp.usage(action.rawValue.bytes + words.bytes), "",
            CommandHelp.options,
        ] + indented(options)
    }

    private static func indented(_ rows: [(Text, Text)]) -> [Text] {
        Table.lines(rows.map { [$0.0, $0.1] }).map { "  \($0)" }
    }
}
