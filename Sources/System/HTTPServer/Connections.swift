// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd
import Dispatch
import Glibc
import Posix
import Synchronization

/// An accepted connection: its peer, and the time by which it must make progress.
// SAFETY: `position` is only read and written by `Connections`, under its lock.
final class Connection: @unchecked Sendable {
    let descriptor: Int32
    let peer: String
    /// The peer's network, by which limits count connections.
    let network: PeerNetwork
    /// The time at which the connection is cut, in nanoseconds of CLOCK_MONOTONIC.
    private let deadline: Atomic<Int64>
    /// The time of its last progress: accepted, a request begun, or an answer sent.
    private let progress: Atomic<Int64>
    /// Where it is in the list of its network; nil if it is in none, because it was closed or shed.
    fileprivate var position: Int?

    init(descriptor: Int32, peer: String, within nanoseconds: Int64) {
        self.descriptor = descriptor
        self.peer = peer
        network = PeerNetwork(peer)
        let now = monotonicNanoseconds()
        deadline = Atomic(now + nanoseconds)
        progress = Atomic(now)
    }

    /// Restarts the time limit: the connection is cut when `nanoseconds` from now have passed.
    func allow(_ nanoseconds: Int64) {
        let now = monotonicNanoseconds()
        progress.store(now, ordering: .relaxed)
        deadline.store(now + nanoseconds, ordering: .relaxed)
    }

    /// Lifts the time limit while the handler runs.
    func allowHandler() { deadline.store(.max, ordering: .relaxed) }

    func isOverdue(_ now: Int64) -> Bool { deadline.load(ordering: .relaxed) < now }

    /// The time since which it has waited for its client; nil while the handler runs.
    fileprivate var waitingSince: Int64? {
        deadline.load(ordering: .relaxed) == .max ? nil : progress.load(ordering: .relaxed)
    }
}

/// Counts of connections since the start.
package struct ConnectionFigures: Equatable, Sendable {
    /// How many are open.
    package var open = 0
    /// How many were closed to make room for new ones.
    package var shed = 0

    /// Creates counts of zero.
    package init() {}
}

/// The open connections, with the server's own limits of time and number.
///
/// The library restarts its timeout with every byte. These limits do not restart, so that a client
/// that sends one byte per second cannot hold a connection for ever. Nor can anyone shut others out
/// by holding all connections that a network may have: where there is no room for a new one, the
/// one that has waited for its client the longest makes room. All methods may be called from any
/// thread.
final class Connections: Sendable {
    /// How many times the connections of one network an IPv6 site may have (`PeerNetwork.site`).
    static let siteShare = 4

    fileprivate struct State {
        /// The open connections, by network; no list is empty.
        var open: [PeerNetwork: [Connection]] = [:]
        /// The number of open connections of each IPv6 site that has any.
        var sites: [PeerNetwork: Int] = [:]
        var figures = ConnectionFigures()
        /// How many the library has not closed: the open ones, and those that made room.
        var unclosed = 0
        /// Whether no more are accepted.
        var isEnding = false
        /// The most that were open since memory was last given back.
        var peak = 0
    }

    /// The least number of connections whose memory is worth being given back.
    private static let crowd = 256

    private let limit: Int
    private let networkLimit: Int
    private let state = Mutex(State())
    /// Signalled when the library has closed the last one, while the end is awaited.
    private let ended = DispatchSemaphore(value: 0)

    /// Creates an empty list for `limit` connections, of one network at most `networkLimit`; 0
    /// stands for no limit of networks.
    init(limit: Int, networkLimit: Int) {
        self.limit = limit
        self.networkLimit = networkLimit
    }

    var figures: ConnectionFigures { state.withLock { $0.figures } }

    /// Makes room for a new connection of a network by closing those that have waited the longest,
    /// of its network, its site, or all.
    ///
    /// Returns false if there is none that could be closed, because requests are being handled on
    /// all of them, and after `end`.
    func makeRoom(for network: PeerNetwork) -> Bool {
        state.withLock { state in
            guard !state.isEnding else { return false }
            if networkLimit > 0, let own = state.open[network], own.count >= networkLimit,
                !state.shed(1, of: own)
            {
                return false
            }
            if networkLimit > 0, let site = network.site,
                let count = state.sites[site], count >= Self.siteShare * networkLimit
            {
                let all = state.open.filter { $0.key.site == site }.values.joined()
                // Several at once, since looking for them takes longer than for those of a network.
                guard state.shed(max(1, networkLimit / 16), of: all) else { return false }
            }
            if state.figures.open >= limit {
                return state.shed(max(1, limit / 64), of: state.open.values.joined())
            }
            return true
        }
    }

    func add(_ connection: Connection) {
        state.withLock { state in
            state.add(connection)
            state.unclosed += 1
            if state.isEnding { _ = shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Removes a connection that the library closes; its descriptor is not used after that.
    func remove(_ connection: Connection) {
        state.withLock { state in
            state.remove(connection)
            state.unclosed -= 1
            if state.unclosed == 0, state.isEnding { ended.signal() }
        }
    }

    /// Accepts no more connections, ends all that are open, and waits until the library has closed
    /// them, for two seconds at most.
    ///
    /// What is answered is sent: at first they only stop to be read, once the answer is with the
    /// library, which closes them after it. Those that are left after a second are cut.
    func end() {
        for direction in [SHUT_RD, SHUT_RDWR] {
            let isEmpty = state.withLock { state in
                state.isEnding = true
                for connection in state.open.values.joined()
                where direction == SHUT_RDWR || connection.waitingSince != nil {
                    _ = shutdown(connection.descriptor, Int32(direction))
                }
                return state.unclosed == 0
            }
            if isEmpty || ended.wait(timeout: .now() + 1) == .success { return }
        }
    }

    /// Shuts down overdue connections; the library then sees the end of the stream and closes them.
    ///
    /// It runs under the lock, and a connection is removed before its descriptor is closed, so that
    /// a descriptor which the kernel has already reused is never shut down.
    func cutOverdue() {
        let now = monotonicNanoseconds()
        state.withLock { state in
            for connection in state.open.values.joined() where connection.isOverdue(now) {
                _ = shutdown(connection.descriptor, Int32(SHUT_RDWR))
            }
        }
    }

    /// Whether most connections of a crowd have closed since the last time that it said so.
    ///
    /// Their memory is free by then, and the allocator keeps it: with TLS, 9 KB each.
    func hasCrowdLeft() -> Bool {
        state.withLock { state in
            let open = state.figures.open
            guard state.peak >= Self.crowd, open <= state.peak / 4 else { return false }
            state.peak = open
            return true
        }
    }
}

extension Connections.State {
    mutating func add(_ connection: Connection) {
        connection.position = open[connection.network]?.count ?? 0
        open[connection.network, default: []].append(connection)
        if let site = connection.network.site { sites[site, default: 0] += 1 }
        figures.open += 1
        peak = max(peak, figures.open)
    }

    mutating func remove(_ connection: Connection) {
        let network = connection.network
        guard let position = connection.position, let last = open[network]?.popLast() else {
            return
        }
        connection.position = nil
        if last !== connection {
            open[network]?[position] = last
            last.position = position
        }
        if open[network]?.isEmpty == true { open[network] = nil }
        if let site = network.site {
            let left = (sites[site] ?? 1) - 1
            sites[site] = left > 0 ? left : nil
        }
        figures.open -= 1
    }

    /// Shuts down at most `number` of the connections, those that have waited the longest; returns
    /// false if none of them waits.
    ///
    /// They count no longer from then on, although the library closes them a moment later.
    mutating func shed(_ number: Int, of connections: some Sequence<Connection>) -> Bool {
        let waiting = connections.compactMap { connection in
            connection.waitingSince.map { (connection, $0) }
        }
        let chosen =
            number == 1
            ? waiting.min { $0.1 < $1.1 }.map { [$0] } ?? []
            : Array(waiting.sorted { $0.1 < $1.1 }.prefix(number))
        for (connection, _) in chosen {
            _ = shutdown(connection.descriptor, Int32(SHUT_RDWR))
            remove(connection)
        }
        figures.shed += chosen.count
        return !chosen.isEmpty
    }
}

/// Cuts overdue connections every second, on a thread that busy handlers do not delay, and gives memory
/// back to the system when many have closed (malloc_trim(3)).
///
/// A timer is needed because a slow client causes no event.
// SAFETY: the timer is set up before it is shared, and then only cancelled, which any thread may.
final class Watch: @unchecked Sendable {
    private let timer = DispatchSource.makeTimerSource()

    init(_ connections: Connections) {
        timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
        timer.setEventHandler {
            connections.cutOverdue()
            if connections.hasCrowdLeft() { _ = malloc_trim(0) }
        }
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
