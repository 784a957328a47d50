// SPDX-License-Identifier: Apache-2.0
import FingerprintReader
import MainContext
import Posix
import Systemd

/// The reader process, from start to exit.
///
/// It is the only process that loads libfprint and opens readers. It has no keys and no state, and
/// carries out signetd's requests. signetd trusts its word about a finger, and nothing else; see
/// SECURITY.md. Only root may connect.
@ServiceActor
package final class ReaderProgram {
    /// How long the process stays without a connection before it exits.
    package nonisolated static let idle = Duration.seconds(30)

    private let listener: PacketListener
    private let service: ReaderService
    private let idle: Duration
    private var watch: FileWatch?
    private var signals: Signals?
    private var connections: [ObjectIdentifier: ReaderConnection] = [:]
    private var timer: Timer?
    private var isStopping = false

    private init(
        _ listener: consuming PacketListener, service: ReaderService, idle: Duration
    ) {
        self.listener = listener
        self.service = service
        self.idle = idle
    }

    /// Serves until SIGTERM or SIGINT, or until there was no connection for `idle`.
    ///
    /// The listening socket is the one that systemd passes (sd_listen_fds(3)). Must be called on
    /// the process's main thread, which runs the main loop.
    ///
    /// - Returns: the exit status, 1 if the process could not start.
    package nonisolated static func run(idle: Duration = ReaderProgram.idle) -> Int32 {
        outliveClosedPipes()
        let status = ExitStatus()
        onService {
            do {
                guard let inherited = try Activation.sockets().first else {
                    complain(
                        "signet-reader: systemd passed no socket. Only systemd can start this program"
                    )
                    return fail(status)
                }
                let listener = try PacketListener(adopting: Descriptor(adopting: inherited))
                let service = await runOnReader { ReaderService() }
                let program = ReaderProgram(listener, service: service, idle: idle)
                status.program = program
                program.serve()
            } catch {
                complain("signet-reader: cannot start: \(error)")
                fail(status)
            }
        }
        MainLoop.run()
        return status.value
    }

    private static func fail(_ status: ExitStatus) {
        status.value = 1
        MainLoop.quit()
    }

    /// Written on the service's thread, read when that thread is gone.
    // SAFETY: MainLoop.run joins the service's thread before it returns.
    private final class ExitStatus: @unchecked Sendable {
        var value: Int32 = 0
        var program: ReaderProgram?
    }

    private func serve() {
        signals = Signals([.terminate, .interrupt]) { [weak self] _ in self?.stop() }
        watch = FileWatch(listener.descriptor.number, for: .readable) { [weak self] _ in
            self?.accept()
        }
        rest()
        Readiness.ready.notify()
    }

    private func accept() {
        while !isStopping, let socket = try? listener.accept() {
            guard let peer = try? PeerCredentials(of: socket.descriptor), peer.uid == 0 else {
                complain("signet-reader: a process that is not root has connected")
                continue
            }
            timer?.cancel()
            let connection = ReaderConnection(socket, service: service) { [weak self] in
                self?.ended($0)
            }
            connections[ObjectIdentifier(connection)] = connection
            connection.begin()
        }
    }

    private func ended(_ connection: ReaderConnection) {
        connections[ObjectIdentifier(connection)] = nil
        if connections.isEmpty { rest() }
    }

    private func rest() {
        guard !isStopping else { return }
        timer = Timer(after: idle) { [weak self] in self?.stop() }
    }

    private func stop() {
        guard !isStopping else { return }
        isStopping = true
        (watch, signals, timer) = (nil, nil, nil)
        Readiness.stopping.notify()
        for connection in connections.values { connection.cancel() }
        onService { [service] in
            // A driver that blocks the readers' thread must not keep the process alive.
            _ = await unlessLate(.seconds(3)) { await runOnReader { await service.close() } }
            endProcess(0)
        }
    }
}
