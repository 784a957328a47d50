// SPDX-License-Identifier: Apache-2.0
/// What `signet-server` is started with.
package enum ServerCommand: Equatable {
    /// The configuration that installed programs read.
    package static let installed = "/etc/signet/server.conf"

    /// Serve, by this configuration.
    case serve(configuration: String)
    case version
    case help
    /// Administration, by what stands behind `admin`.
    case administer([String])
    /// What was not understood, as a sentence.
    case misused(String)

    /// Reads the arguments after the program's name.
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

    /// What `--help` shows.
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
