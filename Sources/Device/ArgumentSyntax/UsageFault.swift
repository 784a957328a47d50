// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// Why a command line is rejected; every program then prints `text` and exits with 2.
package enum UsageFault: Error, Equatable {
    /// No command was given; `help` is the command that lists them.
    case noCommand(help: String)
    /// `nearest` is the command that was probably meant.
    case unknownCommand(String, nearest: String?, help: String)
    /// An option stands where a command is expected.
    case earlyOption(String, help: String)
    /// Only the first words of several commands were given, and one of these words must follow.
    case incompleteCommand(String, [String], help: String)
    /// The command does not have this option; `nearest` was probably meant, and `call` is the command
    /// as the user types it.
    case unknownOption(String, nearest: String?, of: String, call: String)
    case repeatedOption(String)
    case missingValue(String, call: String)
    case emptyValue(String)
    case unwantedValue(String)
    case unwantedWord(String, of: String, call: String)
    /// The word is only taken by a form that has this option.
    case wordNeedsOption(String, option: String, of: String, call: String)
    case missingOperand(String, of: String, call: String)
    /// One of the two must be given, and not both.
    case either(String, String, of: String)
    case needs(String, String)
    case notInRange(String, String, ClosedRange<Int64>)
    case notAChoice(String, String, [String])
    case notAbsolute(String, String)
    /// A message of the program itself.
    case badValue(Text)

    /// The message: the fault, and how to correct the command line.
    package var text: Text {
        switch self {
        case .noCommand(let help): "no command given. Run '\(help.bytes)'"
        case .unknownCommand(let word, let nearest?, _):
            "there is no command \(word.shown). Did you mean '\(nearest.bytes)'?"
        case .unknownCommand(let word, nil, let help):
            "there is no command \(word.shown). Run '\(help.bytes)' to list the commands"
        case .earlyOption(let option, let help):
            "the command must come before \(option.shown). Run '\(help.bytes)' to list the commands"
        case .incompleteCommand(let command, let words, let help):
            """
            \(command.bytes) needs one of \(words.joined(separator: ", ").bytes). \
            Run '\(help.bytes)' to list the commands
            """
        case .unknownOption(let option, let nearest?, let command, _):
            "\(command.bytes) has no option \(option.shown). Did you mean \(nearest.bytes)?"
        case .unknownOption(let option, nil, let command, let call):
            """
            \(command.bytes) has no option \(option.shown). Run '\(call.bytes) --help' to see what \
            it takes
            """
        case .repeatedOption(let option): "\(option.bytes) was given twice. Give it once"
        case .missingValue(let option, let call):
            "\(option.bytes) needs a value. Run '\(call.bytes) --help' to see which"
        case .emptyValue(let taker): "\(taker.bytes) must not be empty"
        case .unwantedValue(let option): "\(option.bytes) takes no value"
        case .unwantedWord(let word, let command, let call):
            """
            \(command.bytes) does not take \(word.shown). Run '\(call.bytes) --help' to see what it \
            takes
            """
        case .wordNeedsOption(let word, let option, let command, let call):
            """
            \(command.bytes) does not take \(word.shown) without \(option.bytes). \
            Run '\(call.bytes) --help' to see what it takes
            """
        case .missingOperand(let operand, let command, let call):
            "\(command.bytes) needs \(operand.bytes). Run '\(call.bytes) --help' to see what it takes"
        case .either(let one, let other, let command):
            "\(command.bytes) needs either \(one.bytes) or \(other.bytes)"
        case .needs(let one, let other): "\(one.bytes) also needs \(other.bytes)"
        case .notInRange(let taker, let value, let bounds):
            """
            \(taker.bytes) needs a number from \(number: UInt64(clamping: bounds.lowerBound)) to \
            \(number: UInt64(clamping: bounds.upperBound)), not \(value.shown)
            """
        case .notAChoice(let taker, let value, let words):
            """
            \(taker.bytes) needs one of \(words.joined(separator: ", ").bytes), not \(value.shown)
            """
        case .notAbsolute(let taker, let value):
            "\(taker.bytes) needs an absolute path, not \(value.shown)"
        case .badValue(let text): text
        }
    }
}
