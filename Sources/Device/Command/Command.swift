// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import LoginMessages

/// One command of `signet`: its declaration and its action.
///
/// A new command is a type that conforms to this protocol, in its own file in `Commands`;
/// nothing else lists it. Parser, help, completions and the synopses of the documentation follow
/// from its declaration.
protocol Command: SendableMetatype {
    /// Its place in the help: commands stand there in ascending order, and no two have the same.
    static var helpPosition: Int { get }
    /// The group that its name begins with, declared by one command of the group; nil elsewhere.
    static var group: GroupSyntax? { get }
    /// What it is called with.
    static var syntax: CommandSyntax { get }

    init(run: Invocation)

    /// Performs the command; its arguments were parsed already.
    func perform() throws(CommandFault)
}

extension Command {
    static var group: GroupSyntax? { nil }
}

/// All commands, in the order of the help.
package enum Commands {
    /// Every `Command` of this target, see `Plugins/Listing`.
    static let all = Listed.commands.sorted { $0.helpPosition < $1.helpPosition }

    /// The program `signet`.
    package static let syntax = ProgramSyntax(
        "signet", summary: "fingerprint login with a proof that others can verify",
        groups: all.compactMap { $0.group },
        commands: all.map { $0.syntax }, helpCommand: HelpCommand.syntax.name,
        notes: [ExitCode.heading]
            + Table.lines(ExitCode.allCases.map { ["\($0.rawValue)".text, $0.text] })
            .map { "  \($0)" })

    /// Returns the command with this declaration.
    static func type(of syntax: CommandSyntax) -> (any Command.Type)? {
        all.first { $0.syntax.name == syntax.name }
    }
}
