// SPDX-License-Identifier: Apache-2.0
import Posix
import Systemd

/// The relay from start to end.
package enum RelayProgram {
    /// How long it stays when nothing is asked of it.
    private static let idle = Duration.seconds(60)

    /// Serves on the calling thread, the process's first, until SIGTERM or SIGINT, or until it was
    /// idle where systemd holds the socket; gives the exit status.
    package static func run(_ command: RelayCommand) -> Int32 {
        guard case .serve(let configuration, let socket) = command else { return 2 }
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
            let settings = RelaySettings(configuration)
            let service = RelayService(caller: 0) { settings.answers($0) }
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

    /// Nothing in the environment may steer the relay or its libraries: no proxy, no file of
    /// authorities, no log of TLS keys.
    private static func enterRelay() throws(SystemFault) {
        try hardenProcess()
        try clearEnvironment(keeping: [
            "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET",
        ])
    }
}
