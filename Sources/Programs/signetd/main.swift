// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import Daemon
import Glibc
import Posix

exit(serve())

/// Does what the arguments say; gives the exit status.
func serve() -> Int32 {
    let words = Array(CommandLine.arguments.dropFirst())
    switch DaemonCommand.syntax.outcome(of: words, version: Version.text) {
    case .show(let text):
        print(text)
        return 0
    case .refuse(let text):
        complain(text)
        return 2
    case .run(let arguments):
        do throws(SystemFault) {
            try enterDaemon()
        } catch {
            complain("signetd: \(error)")
            return 1
        }
        let foreground = arguments.has(DaemonCommand.foreground)
        // Not by way of exit(3): a call of the TPM that hangs may still use what its handlers end.
        _exit(Program.run(paths: .installed(), foreground: foreground))
    }
}
