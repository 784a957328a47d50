// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages

/// One command of `signet`: its name, its arguments and its action.
///
/// A new command is a type that conforms to this protocol, in a file of its own, and an entry in
/// `Commands.all`. Parsing and help follow from its description; the completions for the shells are
/// files of their own, which tests compare with the help.
protocol Command: SendableMetatype {
    static var description: CommandDescription { get }

    init(run: Invocation)

    /// Performs the command; its arguments were parsed already.
    func perform() throws(CommandFault)
}

/// The syntax of a command, and its texts in the help.
struct CommandDescription: Sendable {
    /// One or two words, for example `secret set`.
    let name: String
    /// The purpose, in one line.
    let purpose: Text
    /// The operands, as the help shows them, and their maximum number.
    let operands: (shown: String, most: Int)
    /// The first operands that select a subcommand described on the same help page.
    let besides: [String]
    /// All options that the command takes.
    let options: [TakenOption]

    /// Adds `--help`, and `--json` unless the command's output is not for programs to parse.
    init(
        _ name: String, _ purpose: Text, operands: (shown: String, most: Int) = ("", 0),
        besides: [String] = [], options: [TakenOption] = [], writesJSON: Bool = true
    ) {
        self.name = name
        self.purpose = purpose
        self.operands = operands
        self.besides = besides
        self.options = options + (writesJSON ? [.json] : []) + [.help]
    }
}

/// An option of a command.
struct TakenOption: Sendable {
    let option: Option
    /// The option's purpose for this command, in one line.
    let purpose: Text

    init(_ option: Option, _ purpose: Text) {
        self.option = option
        self.purpose = purpose
    }

    static let account = TakenOption(.account, CommandHelp.account)
    static let json = TakenOption(.json, CommandHelp.json)
    static let help = TakenOption(.help, CommandHelp.optionHelp)
    static let passwordStdin = TakenOption(.passwordStdin, CommandHelp.passwordStdin)
    static let replace = TakenOption(.replace, CommandHelp.replace)
}

/// All commands, in the order of the help.
enum Commands {
    static let all: [any Command.Type] = [
        StatusCommand.self, EnrollCommand.self, ListCommand.self, DeleteCommand.self,
        VerifyCommand.self, EnableCommand.self, DisableCommand.self, UnlockCommand.self,
        ReadersCommand.self, VaultCommand.self, LogCommand.self, ConfigCommand.self,
        DoctorCommand.self, NotifyCommand.self, LoginCommand.self, SignCommand.self,
        OperationsCommand.self, MACTokenCommand.self, ImportCommand.self, SecretSetCommand.self,
        SecretGetCommand.self, SecretListCommand.self, SecretDeleteCommand.self, HelpCommand.self,
    ]

    /// Returns the command with this name.
    static func named(_ name: String) -> (any Command.Type)? {
        all.first { $0.description.name == name }
    }

    /// Returns the commands of two words whose first is this one.
    static func group(_ word: String) -> [any Command.Type] {
        all.filter { $0.description.name.hasPrefix("\(word) ") }
    }
}
