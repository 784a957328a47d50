// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import Glibc
import Posix
import SSHAgentProcess

exit(run())

/// Does what the arguments say; gives the exit status.
func run() -> Int32 {
    let words = Array(CommandLine.arguments.dropFirst())
    switch AgentCommand.syntax.outcome(of: words, version: Version.text) {
    case .show(let text):
        print(text)
        return 0
    case .refuse(let text):
        complain(text)
        return 2
    case .run(let arguments):
        do throws(SystemFault) {
            try enterAgent()
        } catch {
            complain("signet-agent: \(error)")
            return 1
        }
        return AgentProgram.run(arguments)
    }
}
