// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages

/// The command line of `signet-server`: it serves, or, with `admin`, runs an administrative
/// command.
package enum ServerCommand {
    /// The configuration file that is used by default.
    private static let installed = "/etc/signet/server.conf"

    static let config = OptionSyntax(
        "config", ValueSyntax("FILE", kind: .absoluteFile),
        summary: "the settings, instead of /etc/signet/server.conf")
    static let json = OptionSyntax("json", summary: "print lists and answers as JSON")

    package static let new = OptionSyntax(
        "new", summary: "begin with an empty database although there is a master secret, once")

    package static let tryOut = OptionSyntax(
        "try", summary: "try a server out, without root, for this machine alone")

    package static let syntax = ProgramSyntax(
        "signet-server", summary: "server that verifies what a touch has signed",
        groups: [
            GroupSyntax(
                "admin", summary: "administer applications, accounts, devices and keys",
                options: [config, json])
        ],
        commands: [
            CommandSyntax(
                "", summary: "serve in the foreground until SIGTERM",
                forms: [
                    FormSyntax(options: [config, new]),
                    FormSyntax(
                        tryOut,
                        operands: [
                            OperandSyntax(ValueSyntax("DIRECTORY", kind: .directory), count: 0...1)
                        ]),
                ])
        ] + AdminVerbs.all.map(\.syntax),
        notes: [
            """
            exit status: 0 done, 1 configuration, database or standard output cannot be used, \
            2 wrong usage, 3 not found, 4 not possible now
            """
        ])

    /// The configuration file given on the command line, or the default one.
    package static func configuration(_ arguments: Arguments) -> String {
        arguments.value(config) ?? installed
    }
}
