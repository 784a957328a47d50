// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// The texts in the help of all programs.
extension ProgramSyntax {
    /// The line with a program or command and its purpose.
    static func title(_ call: Bytes, summary: Text) -> Text { "\(call): \(summary)" }
    /// The line that shows how to call it.
    static func usage(_ call: Text) -> Text { "usage: \(call) [OPTION…]" }
    /// Another way, below the first.
    // Untranslated: only the word for options would differ.
    static func alsoUsage(_ call: Text) -> Text { "       \(call) [OPTION…]" }
    /// The program followed by any command.
    static func anyCommand(_ call: Bytes) -> Text { "\(call) COMMAND" }
    /// The heading of the commands.
    static let commands: Text = "commands:"
    /// The heading of the options.
    static let options: Text = "options:"
    /// The line that says where to find more.
    static func more(_ call: Text) -> Text { "run '\(call) --help' to see what a command takes" }
}
