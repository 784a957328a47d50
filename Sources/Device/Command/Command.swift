// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import LoginMessages

/// One command of `signet`: its declaration and its action.
///
/// A new command is a type that conforms to this protocol, in a file of its own, and an entry in
/// `Commands.all`. Parser, help, completions and the synopses of the documentation follow from its
/// declaration.
protocol Command: SendableMetatype {
    /// What it is called with.
    static var syntax: CommandSyntax { get }

    init(run: Invocation)

    /// Performs the command; its arguments were parsed already.
    func perform() throws(CommandFault)
}

/// All commands, in the order of the help.
package enum Commands {
    static let all: [any Command.Type] = [
        StatusCommand.self, EnrollCommand.self, ListCommand.self, DeleteCommand.self,
        VerifyCommand.self, EnableCommand.self, DisableCommand.self, UnlockCommand.self,
        ReadersCommand.self, VaultCommand.self, LogCommand.self, ConfigCommand.self,
        DoctorCommand.self, NotifyCommand.self, LoginCommand.self, SignCommand.self,
        OperationsCommand.self, MACTokenCommand.self, ImportCommand.self, SecretSetCommand.self,
        SecretGetCommand.self, SecretListCommand.self, SecretDeleteCommand.self, HelpCommand.self,
    ]

    /// The program `signet`.
    package static let syntax = ProgramSyntax(
        "signet", summary: "fingerprint login with a proof that others can verify",
        groups: [GroupSyntax("secret", summary: "store secrets that a touch releases")],
        commands: all.map { $0.syntax }, helpCommand: HelpCommand.syntax.name,
        notes: [ExitCode.heading]
            + Table.lines(ExitCode.allCases.map { ["\($0.rawValue)".text, $0.text] })
            .map { "  \($0)" })

    /// Returns the command with this declaration.
    static func type(of syntax: CommandSyntax) -> (any Command.Type)? {
        all.first { $0.syntax.name == syntax.name }
    }
}
