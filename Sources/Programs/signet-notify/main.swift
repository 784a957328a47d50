// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Configuration
import Glibc
import Notifier
import Posix

exit(run())

/// Does what the arguments say; gives the exit status.
func run() -> Int32 {
    let words = Array(CommandLine.arguments.dropFirst())
    switch NotifierCommand.syntax.outcome(of: words, version: Version.text) {
    case .show(let text):
        print(text)
        return 0
    case .refuse(let text):
        complain(text)
        return 2
    case .run: return Notifier.run(paths: .ofThisSession())
    }
}
