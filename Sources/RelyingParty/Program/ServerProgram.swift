// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization
import Systemd

/// The `signet-server` program, from start to exit: signals, systemd notifications, exit status.
package enum ServerProgram {
    /// How long requests under way may take when the server stops.
    private static let farewell = Duration.seconds(10)

    /// The variables with which systemd passes sockets, readiness and credentials.
    static let systemd: Set<String> = [
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY",
    ]

    /// Runs the server on the main thread until SIGTERM or SIGINT; returns the exit status.
    ///
    /// SIGHUP reloads the certificate; if that fails, the server keeps the old one.
    ///
    /// - Parameter acceptsNew: whether an empty database beside an existing master secret is
    ///   accepted (`--new`).
    package static func run(configuration path: String, acceptsNew: Bool) -> Int32 {
        do throws(SystemFault) {
            try enterServer()
            return try serve(StartRequest(configuration: path, acceptsNew: acceptsNew))
        } catch {
            report("cannot start: \(error)")
            return 1
        }
    }

    /// Starts a server, and runs it until a signal.
    ///
    /// - Parameter started: is called once the server serves, with its port; if it does not return
    ///   0, the server stops with this exit status.
    static func serve(
        _ request: StartRequest,
        started: @escaping @Sendable (Service, UInt16) async -> Int32 = { _, _ in 0 }
    ) throws(SystemFault) -> Int32 {
        let signals = try Interrupts.take()
        let running = RunningServer()
        var status = try finished { await running.start(request) }
        guard status == 0 else { return status }
        status = try finished { await running.whileServing(started) }
        guard status == 0 else {
            _ = try finished { await running.stop(within: farewell) }
            return status
        }
        Readiness.ready.notify()
        while isHangUp(signals) {
            Readiness.reloading.notify()
            _ = try finished { await running.renewCertificate() }
            Readiness.ready.notify()
        }
        Readiness.stopping.notify()
        return try finished { await running.stop(within: farewell) }
    }

    /// Waits for a signal; returns true for SIGHUP, false for a signal to stop.
    private static func isHangUp(_ signals: borrowing Interrupts) -> Bool {
        let number = signals.descriptor.number
        while true {
            if let asked = nextSignal(number) { return asked == .hangUp }
            _ = wait(for: number, or: -1, until: nil)
        }
    }

    /// Hardens the process, and clears the environment so that it cannot affect the libraries.
    static func enterServer(keeping names: Set<String> = systemd) throws(SystemFault) {
        try hardenProcess()
        try clearEnvironment(keeping: names)
    }

    /// Blocks this thread until asynchronous work has finished; returns its exit status.
    static func finished(
        _ work: @escaping @Sendable () async -> Int32
    ) throws(SystemFault) -> Int32 {
        let end = try Event()
        let outcome = Outcome()
        Task {
            outcome.status.store(await work(), ordering: .sequentiallyConsistent)
            end.happen()
        }
        _ = wait(for: end.descriptor.number, or: -1, until: nil)
        return outcome.status.load(ordering: .sequentiallyConsistent)
    }

    private final class Outcome: Sendable {
        let status = Atomic<Int32>(1)
    }
}
