// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Posix
import Systemd

/// The program `signet-relay`, from start to exit.
///
/// It is the only process of Signet's on a device that talks to servers. It has no keys and no
/// state: signetd sends it requests over a socket that only root may connect to, and the relay
/// sends them over HTTPS.
package enum RelayProgram {
    /// How long it stays without a connection if systemd holds the socket.
    private static let idle = Duration.seconds(60)

    /// Serves on the main thread; returns the exit status, 1 if it could not start.
    ///
    /// Ends at SIGTERM or SIGINT, or after a minute without a connection if systemd holds the
    /// socket. Without a socket from systemd, it creates one with mode 0600 and removes it at the
    /// end.
    package static func run(_ arguments: Arguments) -> Int32 {
        let socket = RelayCommand.socketPath(arguments)
        do {
            try enterRelay()
            let signals = try Interrupts.take()
            let inherited = try Activation.sockets().first
            let listener: PacketListener
            if let inherited {
                listener = try PacketListener(adopting: Descriptor(adopting: inherited))
            } else {
                listener = try PacketListener.replacing(socket, mode: 0o600)
            }
            let settings = RelaySettings(RelayCommand.configurationPath(arguments))
            let service = try RelayService(caller: 0) { settings.answers($0) }
            Readiness.ready.notify()
            try service.serve(
                listener, until: signals.descriptor.number, idle: inherited == nil ? nil : idle)
            if inherited == nil { PacketListener.remove(socket) }
            Readiness.stopping.notify()
            return 0
        } catch {
            complain("signet-relay: cannot start: \(error)")
            return 1
        }
    }

    /// Hardens the process, and clears the environment except for the variables that systemd
    /// passes.
    ///
    /// Other variables could set a proxy, a file of authorities, or a log of TLS keys for the
    /// libraries.
    private static func enterRelay() throws(SystemFault) {
        try hardenProcess()
        try clearEnvironment(keeping: [
            "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET",
        ])
    }
}
