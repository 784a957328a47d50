// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import JSONFormat
import LoginMessages

/// `signet help`: the overview of all commands, and a page for each.
struct HelpCommand: Command {
    static let helpPosition = 240
    static let syntax = CommandSyntax(
        "help", summary: "show this text",
        operands: [OperandSyntax(ValueSyntax("COMMAND", kind: .command), count: 0...2)],
        options: [.json])

    let run: Invocation

    /// Shows the overview, one command or one group of commands.
    func perform() throws(CommandFault) {
        var words = run.arguments.operands
        let program = Commands.syntax
        // A form that begins with a word is described on the page of its command: 'vault migrate'.
        if let command = words.first.flatMap({ program.command([$0]) }), words.count == 2,
            command.forms.contains(where: { $0.word == words[1] })
        {
            words.removeLast()
        }
        let below = program.commands(below: words)
        let command = program.command(words)
        guard command != nil || !below.isEmpty else {
            let fault = UsageFault.unknownCommand(
                words.joined(separator: " "), nearest: nil, help: program.call(["help"]))
            throw .usage(fault.text)
        }
        let listed = command == nil ? below : program.commands
        let options = command?.allOptions ?? (words.isEmpty ? Self.syntax.allOptions : [])
        let document = JSON.document(
            "help",
            members: [
                ("command", .string(words.isEmpty ? "help" : words.joined(separator: " "))),
                ("commands", .array(listed.map { .string($0.name) })),
                ("options", .array(options.map { .string($0.long) })),
                (
                    "exitCodes",
                    .object(ExitCode.allCases.map { ("\($0.rawValue)", .bytes($0.text.bytes)) })
                ),
            ])
        run.say(document, program.help(of: words))
    }
}
