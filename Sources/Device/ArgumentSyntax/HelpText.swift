// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// The words of the help of all programs.
extension ProgramSyntax {
    /// A program or command, and what it does.
    static func title(_ call: Bytes, _ summary: Text) -> Text { "\(call): \(summary)" }
    /// How it is called: its name and what it takes.
    static func usage(_ call: Text) -> Text { "usage: \(call) [OPTION…]" }
    /// Another way, below the first.
    // Untranslated: only the word for options would differ.
    static func alsoUsage(_ call: Text) -> Text { "       \(call) [OPTION…]" }
    /// A program, and any of its commands.
    static func anyCommand(_ call: Bytes) -> Text { "\(call) COMMAND" }
    /// Above the commands.
    static let commands: Text = "commands:"
    /// Above the options.
    static let options: Text = "options:"
    /// Where more is told.
    static func more(_ call: Text) -> Text { "run '\(call) --help' to see what a command takes" }
}
