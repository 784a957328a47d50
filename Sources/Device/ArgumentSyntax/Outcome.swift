// SPDX-License-Identifier: Apache-2.0
import LoginMessages

/// The action that a command line requests of a program without translations.
package enum CommandLineOutcome: Sendable {
    /// Run the program with these arguments.
    case run(Arguments)
    /// Print this text on standard output and exit with 0.
    case show(String)
    /// Print this text on standard error and exit with 2.
    case refuse(String)
}

extension ProgramSyntax {
    /// Parses the words after the program's name; the texts are in English.
    package func outcome(of words: [String], version: String) -> CommandLineOutcome {
        do throws(UsageFault) {
            switch try read(words) {
            case .run(let arguments): return .run(arguments)
            case .help(let words): return .show(englishHelp(of: words))
            case .version: return .show("\(name) \(version)")
            }
        } catch { return .refuse("\(name): \(error.english)") }
    }

    /// Returns the help in English, as one text with line ends between the lines.
    package func englishHelp(of words: [String]) -> String {
        help(of: words).map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "\n")
    }
}

extension UsageFault {
    /// The fault's text in English.
    package var english: String { String(decoding: text.bytes, as: UTF8.self) }
}
