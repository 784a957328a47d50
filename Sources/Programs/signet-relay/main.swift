// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import Posix
import Relay

exit(run())

/// Does what the arguments say; gives the exit status.
func run() -> Int32 {
    let command = RelayCommand(Array(CommandLine.arguments.dropFirst()))
    switch command {
    case .version:
        print("signet-relay \(Version.text)")
        return 0
    case .help:
        print(RelayCommand.usage)
        return 0
    case .unknown(let argument):
        complain("signet-relay: unknown argument '\(argument)'\n\(RelayCommand.usage)")
        return 2
    case .serve: return RelayProgram.run(command)
    }
}
