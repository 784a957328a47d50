// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages

/// One command of `signet`: what it is called, what it takes, and what it does.
///
/// A new command is a type of this kind in a file of its own, and its line in `Commands.all`. Parsing,
/// help, completions and the table of commands follow from its description.
protocol Command: SendableMetatype {
    static var description: CommandDescription { get }

    init(run: Invocation)

    /// Does it; the command line was understood.
    func perform() throws(CommandFault)
}

/// What is typed for a command, and what help says of it.
struct CommandDescription: Sendable {
    /// One word, or two: `secret set`.
    let name: String
    /// What it does, in one line.
    let purpose: Text
    /// The words it takes, as help shows them, and how many at the most.
    let operands: (shown: String, most: Int)
    /// What it does when this word comes first behind it.
    let besides: [String]
    /// All that it takes.
    let options: [TakenOption]

    /// Every command takes `--help`, and `--json` unless what it writes is not for programs to parse.
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

/// An option where a command takes it.
struct TakenOption: Sendable {
    let option: Option
    /// What it is for there, in one line.
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

/// All commands, in the order in which help shows them.
enum Commands {
    static let all: [any Command.Type] = [
        StatusCommand.self, EnrollCommand.self, ListCommand.self, DeleteCommand.self,
        VerifyCommand.self, EnableCommand.self, DisableCommand.self, UnlockCommand.self,
        ReadersCommand.self, VaultCommand.self, LogCommand.self, ConfigCommand.self,
        DoctorCommand.self, NotifyCommand.self, LoginCommand.self, SignCommand.self,
        OperationsCommand.self, MACTokenCommand.self, ImportCommand.self, SecretSetCommand.self,
        SecretGetCommand.self, SecretListCommand.self, SecretDeleteCommand.self, HelpCommand.self,
    ]

    /// The command of this name.
    static func named(_ name: String) -> (any Command.Type)? {
        all.first { $0.description.name == name }
    }

    /// The commands whose names begin with this word.
    static func group(_ word: String) -> [any Command.Type] {
        all.filter { $0.description.name.hasPrefix("\(word) ") }
    }
}
