// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization
import Systemd

/// The server from start to end.
package enum ServerProgram {
    /// How long requests under way have to be answered when the server stops.
    private static let farewell = Duration.seconds(10)

    /// Runs the server on the calling thread, the process's first, until SIGTERM or SIGINT; gives
    /// the exit status. At SIGHUP the certificate is read anew.
    package static func run(configuration path: String) -> Int32 {
        do throws(SystemFault) {
            try enterServer()
            let signals = try Interrupts.take()
            let running = RunningServer()
            let status = try finished { await running.start(configuration: path) }
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

    /// Waits for a signal; false where it is to end.
    private static func isHangUp(_ signals: borrowing Interrupts) -> Bool {
        let number = signals.descriptor.number
        while true {
            if let asked = nextSignal(number) { return asked == .hangUp }
            _ = wait(for: number, or: -1, until: nil)
        }
    }

    /// Nothing in the environment may steer the server or its libraries, and its memory is
    /// nobody's to read.
    static func enterServer() throws(SystemFault) {
        try hardenProcess()
        try clearEnvironment(keeping: [
            "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY",
        ])
    }

    /// Waits on this thread for work that goes on on others, and gives its exit status.
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
