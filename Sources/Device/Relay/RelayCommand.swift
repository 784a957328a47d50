// SPDX-License-Identifier: Apache-2.0
/// What the arguments of `signet-relay` ask for.
package enum RelayCommand: Equatable {
    /// Serve with this configuration; `socket` is created unless systemd has passed one.
    case serve(configuration: String, socket: String)
    case version
    case help
    /// An unknown argument, or an option without its value.
    case unknown(String)

    /// Parses the arguments after the program's name.
    package init(_ arguments: [String]) {
        var configuration = "/etc/signet/signet.conf"
        var socket = "/run/signet/relay.sock"
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--version":
                self = .version
                return
            case "--help", "-h":
                self = .help
                return
            case "--config", "--socket":
                guard let value = rest.popFirst() else {
                    self = .unknown(argument)
                    return
                }
                if argument == "--config" { configuration = value } else { socket = value }
            default:
                self = .unknown(argument)
                return
            }
        }
        self = .serve(configuration: configuration, socket: socket)
    }

    /// The text for `--help`.
    package static let usage = """
        usage: signet-relay [--config FILE] [--socket PATH] [--version] [--help]

        Carries the daemon's requests to signet-server by HTTPS. It stays in the foreground until
        SIGTERM, or until it is idle where systemd holds the socket.

          --config FILE  the settings, instead of /etc/signet/signet.conf
          --socket PATH  where to listen without systemd, instead of /run/signet/relay.sock
        """
}
