// SPDX-License-Identifier: Apache-2.0
import LoginMessages

/// What a program without translations does with its command line.
package enum CommandLineOutcome: Sendable {
    /// Do what the arguments say.
    case run(Arguments)
    /// Print this on standard output and exit with 0.
    case show(String)
    /// Print this on standard error and exit with 2.
    case refuse(String)
}

extension ProgramSyntax {
    /// Reads the words after the program's name; texts are in English.
    package func outcome(of words: [String], version: String) -> CommandLineOutcome {
        do throws(UsageFault) {
            switch try read(words) {
            case .run(let arguments): return .run(arguments)
            case .help(let words): return .show(englishHelp(of: words))
            case .version: return .show("\(name) \(version)")
            }
        } catch { return .refuse("\(name): \(error.english)") }
    }

    /// The help in English, its lines with line ends between them.
    package func englishHelp(of words: [String]) -> String {
        help(of: words).map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "\n")
    }
}

extension UsageFault {
    /// The text in English.
    package var english: String { String(decoding: text.bytes, as: UTF8.self) }
}
