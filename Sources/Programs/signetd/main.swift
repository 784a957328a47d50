// SPDX-License-Identifier: Apache-2.0
import Configuration
import Daemon
import Glibc
import Posix

exit(serve())

/// Does what the arguments say; gives the exit status.
func serve() -> Int32 {
    switch DaemonCommand(Array(CommandLine.arguments.dropFirst())) {
    case .version:
        print("signetd \(Version.text)")
        return 0
    case .help:
        print(DaemonCommand.usage)
        return 0
    case .unknown(let argument):
        complain("signetd: unknown argument '\(argument)'\n\(DaemonCommand.usage)")
        return 2
    case .serve(let foreground):
        do throws(SystemFault) {
            try enterDaemon()
        } catch {
            complain("signetd: \(error)")
            return 1
        }
        // Not by way of exit(3): a call of the TPM that hangs may still use what its handlers end.
        _exit(Program.run(paths: .installed(), foreground: foreground))
    }
}
