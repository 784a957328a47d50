import Posix
import Synchronization
import Systemd

/// The server from start to end.
package enum ServerProgram {
    /// How long requests under way have to be answered when the server stops.
    private static let farewell = Duration.seconds(10)

    /// Runs the server on the calling thread, the process's first, until SIGTERM or SIGINT; gives
    /// the exit status.
    package static func run(configuration path: String) -> Int32 {
        do throws(SystemFault) {
            try enterServer()
            let signals = try Interrupts.take()
            let running = RunningServer()
            guard try finished({ await running.start(configuration: path) }) else { return 1 }
            Readiness.ready.notify()
            _ = wait(for: signals.descriptor.number, or: -1, until: nil)
            Readiness.stopping.notify()
            return try finished({ await running.stop(within: farewell) }) ? 0 : 1
        } catch {
            report("cannot start: \(error)")
            return 1
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

    /// Waits on this thread for work that goes on on others, and gives what it came to.
    static func finished(
        _ work: @escaping @Sendable () async -> Bool
    ) throws(SystemFault) -> Bool {
        let end = try Event()
        let outcome = Outcome()
        Task {
            let isGood = await work()
            outcome.isGood.store(isGood, ordering: .sequentiallyConsistent)
            end.happen()
        }
        _ = wait(for: end.descriptor.number, or: -1, until: nil)
        return outcome.isGood.load(ordering: .sequentiallyConsistent)
    }

    private final class Outcome: Sendable {
        let isGood = Atomic(false)
    }
}
