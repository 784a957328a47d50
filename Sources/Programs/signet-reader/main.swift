// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import Glibc
import Posix
import ReaderProcess

exit(run())

/// Does what the arguments say; gives the exit status.
func run() -> Int32 {
    let words = Array(CommandLine.arguments.dropFirst())
    switch ReaderCommand.syntax.outcome(of: words, version: Version.text) {
    case .show(let text):
        print(text)
        return 0
    case .refuse(let text):
        complain(text)
        return 2
    case .run:
        do throws(SystemFault) {
            try enterReaderProcess()
        } catch {
            complain("signet-reader: \(error)")
            return 1
        }
        return ReaderProgram.run()
    }
}
