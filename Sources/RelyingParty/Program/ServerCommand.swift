// SPDX-License-Identifier: Apache-2.0
/// What the arguments of `signet-server` ask for.
package enum ServerCommand: Equatable {
    /// The configuration that the installed program reads by default.
    package static let installed = "/etc/signet/server.conf"

    /// Serve with this configuration file.
    case serve(configuration: String)
    case version
    case help
    /// Administration; the arguments after `admin`.
    case administer([String])
    /// Invalid arguments; a message for the user.
    case misused(String)

    /// Parses the arguments after the program's name.
    package init(_ arguments: [String]) {
        if arguments.first == "admin" {
            self = .administer(Array(arguments.dropFirst()))
            return
        }
        var configuration = Self.installed
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--config":
                guard let path = rest.popFirst(), path.hasPrefix("/") else {
                    self = .misused("--config wants an absolute path")
                    return
                }
                configuration = path
            case "--version":
                self = .version
                return
            case "--help", "-h":
                self = .help
                return
            default:
                self = .misused("unknown argument '\(argument)'")
                return
            }
        }
        self = .serve(configuration: configuration)
    }

    /// The text for `--help`.
    package static let usage = """
        usage: signet-server [--config FILE] [--version] [--help]
               signet-server admin COMMAND

        Registers devices' keys, issues challenges, verifies what a touch has signed, and gives
        tokens. It stays in the foreground until SIGTERM.

          --config FILE  the settings, instead of /etc/signet/server.conf
          --version      show the version
          --help         show this; 'signet-server admin --help' shows the commands
        """
}
