// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import LoginMessages

/// The command line of `signet-relay`.
package enum RelayCommand {
    private static let config = OptionSyntax(
        "config", ValueSyntax("FILE", kind: .file),
        summary: "the settings, instead of /etc/signet/signet.conf")
    private static let socket = OptionSyntax(
        "socket", ValueSyntax("PATH", kind: .file),
        summary: "where to listen without systemd, instead of /run/signet/relay.sock")

    package static let syntax = ProgramSyntax(
        "signet-relay", summary: "carries signetd's requests to servers over HTTPS",
        options: [config, socket],
        notes: [
            "it runs in the foreground until SIGTERM, or until it is idle if systemd started it"
        ])

    /// The configuration file that a command line names.
    static func configurationPath(_ arguments: Arguments) -> String {
        arguments.value(config) ?? "/etc/signet/signet.conf"
    }

    /// The socket that is created unless systemd has passed one.
    static func socketPath(_ arguments: Arguments) -> String {
        arguments.value(socket) ?? "/run/signet/relay.sock"
    }
}
