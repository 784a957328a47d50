// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import Posix
import ReaderProcess

exit(run())

/// Does what the arguments say; gives the exit status.
func run() -> Int32 {
    switch ReaderCommand(Array(CommandLine.arguments.dropFirst())) {
    case .version:
        print("signet-reader \(Version.text)")
        return 0
    case .help:
        print(ReaderCommand.usage)
        return 0
    case .unknown(let argument):
        complain("signet-reader: unknown argument '\(argument)'\n\(ReaderCommand.usage)")
        return 2
    case .serve:
        do throws(SystemFault) {
            try enterReaderProcess()
        } catch {
            complain("signet-reader: \(error)")
            return 1
        }
        return ReaderProgram.run()
    }
}
