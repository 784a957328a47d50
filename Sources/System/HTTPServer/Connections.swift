// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Posix
import Synchronization

/// An accepted connection: its peer, and the time by which it must make progress.
final class Connection: Sendable {
    let descriptor: Int32
    let peer: String
    /// The peer's network, by which limits count connections.
    let network: PeerNetwork
    /// The time at which the connection is cut, in nanoseconds of CLOCK_MONOTONIC.
    private let deadline: Atomic<Int64>

    init(descriptor: Int32, peer: String, within nanoseconds: Int64) {
        self.descriptor = descriptor
        self.peer = peer
        network = PeerNetwork(peer)
        deadline = Atomic(monotonicNanoseconds() + nanoseconds)
    }

    /// Restarts the time limit: the connection is cut when `nanoseconds` from now have passed.
    func allow(_ nanoseconds: Int64) {
        deadline.store(monotonicNanoseconds() + nanoseconds, ordering: .relaxed)
    }

    /// Lifts the time limit while the handler runs.
    func allowHandler() { deadline.store(.max, ordering: .relaxed) }

    func isOverdue(_ now: Int64) -> Bool { deadline.load(ordering: .relaxed) < now }
}

/// The open connections, with the server's own time limits.
///
/// The library restarts its timeout with every byte. These limits do not restart, so that a client
/// that sends one byte per second cannot hold a connection for ever. All methods may be called from
/// any thread.
final class Connections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: Connection] = [:]
        /// The number of open connections of each network that has any.
        var networks: [PeerNetwork: Int] = [:]
    }

    private let state = Mutex(State())

    /// The number of open connections.
    var count: Int { state.withLock { $0.open.count } }

    /// The number of open connections of one network.
    func count(of network: PeerNetwork) -> Int { state.withLock { $0.networks[network] ?? 0 } }

    func add(_ connection: Connection) {
        state.withLock { state in
            state.open[ObjectIdentifier(connection)] = connection
            state.networks[connection.network, default: 0] += 1
        }
    }

    /// Removes a connection; its descriptor is not used after that.
    func remove(_ connection: Connection) {
        state.withLock { state in
            guard state.open.removeValue(forKey: ObjectIdentifier(connection)) != nil else {
                return
            }
            let left = (state.networks[connection.network] ?? 1) - 1
            state.networks[connection.network] = left > 0 ? left : nil
        }
    }

    /// Shuts down overdue connections; the library then sees the end of the stream and closes them.
    ///
    /// It runs under the lock, and a connection is removed before its descriptor is closed, so that
    /// a descriptor which the kernel has already reused is never shut down.
    func cutOverdue() {
        let now = monotonicNanoseconds()
        state.withLock { state in
            for connection in state.open.values where connection.isOverdue(now) {
                _ = shutdown(connection.descriptor, Int32(SHUT_RDWR))
            }
        }
    }
}

/// Cuts overdue connections every second, on a thread that busy handlers do not delay.
///
/// A timer is needed because a slow client causes no event.
// SAFETY: the timer is set up before it is shared, and then only cancelled, which any thread may.
final class Watch: @unchecked Sendable {
    private let timer = DispatchSource.makeTimerSource()

    init(_ connections: Connections) {
        timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
        timer.setEventHandler { connections.cutOverdue() }
        timer.resume()
    }

    deinit { timer.cancel() }

    func cancel() { timer.cancel() }
}

/// The time of CLOCK_MONOTONIC in nanoseconds.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

extension Duration {
    /// The duration in nanoseconds, limited to the range from 0 to a century.
    var nanoseconds: Int64 {
        let century = Int64(100 * 366 * 86_400)
        let seconds = min(max(0, components.seconds), century)
        let rest = components.seconds < 0 ? 0 : components.attoseconds / 1_000_000_000
        return seconds * 1_000_000_000 + max(0, rest)
    }
}
