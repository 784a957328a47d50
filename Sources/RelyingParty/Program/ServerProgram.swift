// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization
import Systemd

/// The `signet-server` program, from start to exit: signals, systemd notifications, exit status.
package enum ServerProgram {
    /// How long requests under way may take when the server stops.
    private static let farewell = Duration.seconds(10)

    /// Runs the server on the main thread until SIGTERM or SIGINT; returns the exit status.
    ///
    /// SIGHUP reloads the certificate; if that fails, the server goes on with the old one.
    ///
    /// - Parameter acceptsNew: whether an empty database beside an existing master secret is
    ///   accepted (`--new`).
    package static func run(configuration path: String, acceptsNew: Bool) -> Int32 {
        do throws(SystemFault) {
            try enterServer()
            let signals = try Interrupts.take()
            let running = RunningServer()
            let status = try finished {
                await running.start(configuration: path, acceptsNew: acceptsNew)
            }
            guard status == 0 else { return status }
            Readiness.ready.notify()
            while isHangUp(signals) {
                Readiness.reloading.notify()
                _ = try finished { await running.renewCertificate() }
                Readiness.ready.notify()
            }
            Readiness.stopping.notify()
            return try finished { await running.stop(within: farewell) }
        } catch {
            report("cannot start: \(error)")
            return 1
        }
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
    ///
    /// Only the variables with which systemd passes sockets, readiness and credentials are kept.
    static func enterServer() throws(SystemFault) {
        try hardenProcess()
        try clearEnvironment(keeping: [
            "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY",
        ])
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
