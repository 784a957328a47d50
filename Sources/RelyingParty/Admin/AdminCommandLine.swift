// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax

/// A parsed command line of `signet-server admin`.
package struct AdminCommandLine: Sendable {
    let configuration: String
    let isJSON: Bool
    let verb: AdminVerb
    let arguments: AdminArguments

    /// Takes the arguments of an `admin` command; nil for those of any other command.
    package init?(_ arguments: Arguments) {
        guard let verb = AdminVerbs.all.first(where: { $0.syntax.name == arguments.command.name })
        else { return nil }
        self.verb = verb
        configuration = ServerCommand.configuration(arguments)
        isJSON = arguments.has(ServerCommand.json)
        self.arguments = AdminArguments(parsed: arguments)
    }
}

extension AdminVerbs {
    /// All rows, in the order of the help.
    static let all: [AdminVerb] = ofDatabase + evidence + upkeep + restoring
}

extension AdminFault {
    /// The result could not be written to standard output; the command's changes remain in effect.
    static func unwritten(_ line: AdminCommandLine) -> AdminFault {
        .unusable(
            """
            the output of '\(line.verb.name)' could not be written: \
            \(visible(line.verb.unseen(line.arguments)))
            """)
    }
}
