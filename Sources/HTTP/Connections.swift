// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization

/// One accepted connection: who is there, and until when it must have moved on.
final class Connection: Sendable {
    let descriptor: Int32
    let peer: String
    /// What limits count it as.
    let network: PeerNetwork
    /// Nanoseconds of CLOCK_MONOTONIC; at this time the connection is cut.
    private let deadline: Atomic<Int64>

    init(descriptor: Int32, peer: String, within nanoseconds: Int64) {
        self.descriptor = descriptor
        self.peer = peer
        network = PeerNetwork(peer)
        deadline = Atomic(monotonicNanoseconds() + nanoseconds)
    }

    /// Sets the time limit anew, from now.
    func allow(_ nanoseconds: Int64) {
        deadline.store(monotonicNanoseconds() + nanoseconds, ordering: .relaxed)
    }

    /// Takes the time limit away, for as long as the handler runs.
    func allowHandler() { deadline.store(.max, ordering: .relaxed) }

    func isOverdue(_ now: Int64) -> Bool { deadline.load(ordering: .relaxed) < now }
}

/// The connections that are open now.
///
/// The library's own limit begins anew with every byte; this one does not, so that a client that
/// sends a byte a second does not hold a connection for ever.
final class Connections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: Connection] = [:]
        /// How many there are of each network that has some.
        var networks: [PeerNetwork: Int] = [:]
    }

    private let state = Mutex(State())

    /// How many there are.
    var count: Int { state.withLock { $0.open.count } }

    /// How many there are of one network.
    func count(of network: PeerNetwork) -> Int { state.withLock { $0.networks[network] ?? 0 } }

    func add(_ connection: Connection) {
        state.withLock { state in
            state.open[ObjectIdentifier(connection)] = connection
            state.networks[connection.network, default: 0] += 1
        }
    }

    /// Forgets a connection; from then on its descriptor is not touched.
    func remove(_ connection: Connection) {
        state.withLock { state in
            guard state.open.removeValue(forKey: ObjectIdentifier(connection)) != nil else {
                return
            }
            let left = (state.networks[connection.network] ?? 1) - 1
            state.networks[connection.network] = left > 0 ? left : nil
        }
    }

    /// Cuts what has had its time; the library then sees the end of the stream and closes.
    ///
    /// Under the lock: a connection whose descriptor may be closed was removed before.
    func cutOverdue() {
        let now = monotonicNanoseconds()
        state.withLock { state in
            for connection in state.open.values where connection.isOverdue(now) {
                _ = shutdown(connection.descriptor, Int32(SHUT_RDWR))
            }
        }
    }
}

/// Cuts what is overdue every second, on a thread that busy handlers do not hold up.
///
/// Time itself is the event: clients that take too long do nothing to be noticed by.
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

/// CLOCK_MONOTONIC in nanoseconds.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

extension Duration {
    /// Whole nanoseconds, within 0 and a century.
    var nanoseconds: Int64 {
        let century = Int64(100 * 366 * 86_400)
        let seconds = min(max(0, components.seconds), century)
        let rest = components.seconds < 0 ? 0 : components.attoseconds / 1_000_000_000
        return seconds * 1_000_000_000 + max(0, rest)
    }
}
