// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import Posix
import RelyingParty

exit(run())

/// Does what the arguments say; gives the exit status.
func run() -> Int32 {
    switch ServerCommand(Array(CommandLine.arguments.dropFirst())) {
    case .version:
        print("signet-server \(Version.text)")
        return 0
    case .help:
        print(ServerCommand.usage)
        return 0
    case .misused(let why):
        complain("signet-server: \(why)\n\(ServerCommand.usage)")
        return 2
    case .administer(let words):
        return AdminProgram.run(words)
    case .serve(let configuration):
        return ServerProgram.run(configuration: configuration)
    }
}
