// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import DesktopProcess
import Glibc
import Posix

exit(run())

/// Does what the arguments say; gives the exit status.
func run() -> Int32 {
    let words = Array(CommandLine.arguments.dropFirst())
    switch DesktopCommand.syntax.outcome(of: words, version: Version.text) {
    case .show(let text):
        print(text)
        return 0
    case .refuse(let text):
        complain(text)
        return 2
    case .run:
        do throws(SystemFault) {
            try enterDesktopProcess()
        } catch {
            complain("signet-fprint: \(error)")
            return 1
        }
        return DesktopProgram.run()
    }
}
