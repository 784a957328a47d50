// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// The caller's network has used up its calls for now.
package struct TooManyRequests: Error, Equatable {
    /// The time to wait until the next call, in seconds.
    package let seconds: Int
}

/// Limits the calls per minute of one IPv4 address or one IPv6 /64 network.
///
/// Each network has a token bucket, which is refilled continuously. For any number of calling
/// addresses:
/// - There are at most 16,384 buckets for single networks, and 256 shared ones for the rest, so
///   that a flood increases neither memory nor the cost of a call beyond that.
/// - A bucket is dropped only when it is full again. So no count is lost, and a network that has a
///   bucket keeps it during a flood.
/// - When there is no room, a new network shares a bucket with the networks around it
///   (`surroundings`). A flood from one of these surroundings empties one shared bucket; a flood
///   from all over the world empties all of them, and new networks then wait until it ends.
package final class RateLimit: Sendable {
    /// The maximum number of networks with a bucket of their own.
    private static let mostNetworks = 16_384
    /// The number of buckets shared by the networks that arrive when there is no room.
    private static let shared = 256
    private static let minute = Duration.seconds(60)
    /// The minimum time between two searches for full buckets while there is no room.
    private static let pause = Duration.seconds(1)
    private let perMinute: Int64
    private let clock: Clock
    private let table: Mutex<Table>

    /// A token taken from a bucket, which can be returned to it.
    package struct Admission: Sendable {
        fileprivate let place: Place
    }

    fileprivate enum Place: Sendable {
        case own(PeerNetwork)
        case shared(Int)
    }

    private struct Bucket {
        var milliTokens: Int64
        var filled: Duration
    }

    private struct Table {
        var own: [PeerNetwork: Bucket] = [:]
        var shared: [Int: Bucket] = [:]
        /// When full buckets were last removed.
        var swept: Duration
    }

    /// Permits a burst of `perMinute` calls, and on average `perMinute` calls a minute.
    package init(perMinute: Int, clock: Clock) {
        self.perMinute = Int64(perMinute)
        self.clock = clock
        table = Mutex(Table(swept: clock.sinceBoot()))
    }

    /// Takes a token from the bucket of an address.
    ///
    /// - Throws: the time to wait if the bucket is empty.
    @discardableResult
    package func admit(_ address: String) throws(TooManyRequests) -> Admission {
        let network = PeerNetwork(address)
        let now = clock.sinceBoot()
        let (place, wait) = table.withLock { table -> (Place, Int?) in
            sweep(&table, at: now)
            let place = self.place(of: network, in: table)
            var bucket = self.bucket(at: place, in: table, now: now)
            defer { keep(bucket, at: place, in: &table) }
            guard bucket.milliTokens >= 1_000 else {
                let missing = 1_000 - bucket.milliTokens
                return (place, Int(missing * 60 / (perMinute * 1_000)) + 1)
            }
            bucket.milliTokens -= 1_000
            return (place, nil)
        }
        if let wait { throw TooManyRequests(seconds: wait) }
        return Admission(place: place)
    }

    /// Returns a token, for a call that is not to be counted because its proof was valid.
    package func giveBack(_ admission: Admission) {
        let now = clock.sinceBoot()
        table.withLock { table in
            let place = admission.place
            // A bucket that was dropped was full.
            if case .own(let network) = place, table.own[network] == nil { return }
            var bucket = self.bucket(at: place, in: table, now: now)
            bucket.milliTokens = min(full, bucket.milliTokens + 1_000)
            if case .own(let network) = place, bucket.milliTokens == full {
                table.own[network] = nil
            } else {
                keep(bucket, at: place, in: &table)
            }
        }
    }

    /// The number of buckets in memory.
    package var count: Int { table.withLock { $0.own.count + $0.shared.count } }

    /// Removes full buckets; at most once a minute, or once a second while there is no room.
    private func sweep(_ table: inout Table, at now: Duration) {
        let pause = table.own.count < Self.mostNetworks ? Self.minute : Self.pause
        guard now - table.swept >= pause else { return }
        table.swept = now
        table.own = table.own.filter { refilled($0.value, at: now).milliTokens < full }
        table.shared = table.shared.filter { refilled($0.value, at: now).milliTokens < full }
    }

    private func place(of network: PeerNetwork, in table: Table) -> Place {
        guard table.own.count >= Self.mostNetworks, table.own[network] == nil else {
            return .own(network)
        }
        // The hash seed is random per process, so a client cannot choose whose bucket to share.
        return .shared(Int(network.surroundings.hashValue.magnitude % UInt(Self.shared)))
    }

    private func bucket(at place: Place, in table: Table, now: Duration) -> Bucket {
        let known =
            switch place {
            case .own(let network): table.own[network]
            case .shared(let number): table.shared[number]
            }
        return known.map { refilled($0, at: now) } ?? Bucket(milliTokens: full, filled: now)
    }

    private func keep(_ bucket: Bucket, at place: Place, in table: inout Table) {
        switch place {
        case .own(let network): table.own[network] = bucket
        case .shared(let number): table.shared[number] = bucket
        }
    }

    private var full: Int64 { perMinute * 1_000 }

    private func refilled(_ bucket: Bucket, at now: Duration) -> Bucket {
        let passed = now - bucket.filled
        let milliseconds =
            passed.components.seconds * 1_000
            + passed.components.attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return bucket }
        // A minute fills any bucket; the limit prevents an overflow after a long time.
        let gained = milliseconds >= 60_000 ? full : milliseconds * perMinute / 60
        return Bucket(milliTokens: min(full, bucket.milliTokens + gained), filled: now)
    }
}
