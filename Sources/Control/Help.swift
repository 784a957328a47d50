import Texts

extension Invocation {
    /// `signet help`, for all or for one command.
    func help() throws(CommandFault) {
        guard !arguments.operands.isEmpty else { return help(for: .help) }
        let words = arguments.operands.joined(separator: " ")
        guard let action = Action(rawValue: words) else {
            throw .usage(
                words == Action.secret
                    ? CommandSecrets.choose : CommandText.unknownAction(words.bytes))
        }
        help(for: action)
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
                (
                    "exitCodes",
                    .object(
                        ExitCode.allCases.map { ("\($0.rawValue)", .bytes($0.text.bytes)) })
                ),
            ])
        say(document, action == .help ? Invocation.overview : Invocation.page(action))
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
            ((option.name + (option.value.map { " \($0)" } ?? "")).text, option.purpose)
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
