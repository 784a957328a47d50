import Glibc
import Synchronization

/// One accepted connection: who is there, and until when it must have moved on.
final class Connection: Sendable {
    let descriptor: Int32
    let peer: String
    /// Nanoseconds of CLOCK_MONOTONIC; at this time the connection is cut.
    private let deadline: Atomic<Int64>

    init(descriptor: Int32, peer: String, within nanoseconds: Int64) {
        self.descriptor = descriptor
        self.peer = peer
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
    private let open = Mutex<[ObjectIdentifier: Connection]>([:])

    /// How many there are.
    var count: Int { open.withLock { $0.count } }

    func add(_ connection: Connection) {
        open.withLock { $0[ObjectIdentifier(connection)] = connection }
    }

    /// Forgets a connection; from then on its descriptor is not touched.
    func remove(_ connection: Connection) {
        _ = open.withLock { $0.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    /// Cuts what has had its time; the library then sees the end of the stream and closes.
    ///
    /// Under the lock: a connection whose descriptor may be closed was removed before.
    func cutOverdue() {
        let now = monotonicNanoseconds()
        open.withLock { connections in
            for connection in connections.values where connection.isOverdue(now) {
                _ = shutdown(connection.descriptor, Int32(SHUT_RDWR))
            }
        }
    }
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
