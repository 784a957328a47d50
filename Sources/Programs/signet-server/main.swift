// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import Glibc
import Posix
import RelyingParty

exit(run())

/// Does what the arguments say; gives the exit status.
func run() -> Int32 {
    let words = Array(CommandLine.arguments.dropFirst())
    switch ServerCommand.syntax.outcome(of: words, version: Version.text) {
    case .show(let text): return AdminProgram.show(text)
    case .refuse(let text):
        complain(text)
        return 2
    case .run(let arguments):
        if let line = AdminCommandLine(arguments) { return AdminProgram.run(line) }
        if arguments.has(ServerCommand.tryOut) {
            return TrialProgram.run(in: arguments.operands.first)
        }
        return ServerProgram.run(
            configuration: ServerCommand.configuration(arguments),
            acceptsNew: arguments.has(ServerCommand.new))
    }
}
