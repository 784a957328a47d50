// SPDX-License-Identifier: Apache-2.0
import HTTP
import Posix
import Synchronization

/// How often an address may begin something without a proof; of IPv6, a network of 64 bits.
///
/// A bucket for each that fills again with time. What holds, however many addresses call:
/// - There are 16,384 buckets for single networks and 256 for all others: neither memory nor the
///   work for a call grows with a flood.
/// - A bucket is forgotten when it is full again and never before: nobody's count is lost, a
///   flooder's least of all, and who has one keeps it through the flood.
/// - Who comes when there is no room shares a bucket with what lies around (`surroundings`): a flood
///   from within one network drains one of the 256, or the buckets of its own. One from all over
///   the world drains them all; then who was not there before it waits until its end.
final class RateLimit: Sendable {
    /// How many networks have a bucket of their own.
    private static let mostNetworks = 16_384
    /// How many buckets those share that come when there is no room.
    private static let shared = 256
    private static let minute = Duration.seconds(60)
    /// While there is no room, full buckets are looked for so often at the most.
    private static let pause = Duration.seconds(1)
    private let perMinute: Int64
    private let clock: Clock
    private let table: Mutex<Table>

    /// Whose bucket something was taken from.
    struct Admission: Sendable {
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
        /// When full buckets were last looked for.
        var swept: Duration
    }

    /// `perMinute` calls a minute, and as many at once.
    init(perMinute: Int, clock: Clock) {
        self.perMinute = Int64(perMinute)
        self.clock = clock
        table = Mutex(Table(swept: clock.sinceBoot()))
    }

    /// Takes one from the address's bucket, or says how long to wait.
    @discardableResult
    func admit(_ address: String) throws(Problem) -> Admission {
        let network = PeerNetwork(address)
        let now = clock.sinceBoot()
        let (place, wait) = table.withLock { table -> (Place, Int?) in
            sweep(&table, at: now)
            let place = self.place(of: network, in: table)
            var bucket = self.bucket(at: place, in: table, now)
            defer { keep(bucket, at: place, in: &table) }
            guard bucket.milliTokens >= 1_000 else {
                let missing = 1_000 - bucket.milliTokens
                return (place, Int(missing * 60 / (perMinute * 1_000)) + 1)
            }
            bucket.milliTokens -= 1_000
            return (place, nil)
        }
        if let wait { throw .slowDown(seconds: wait) }
        return Admission(place: place)
    }

    /// Gives back what was taken, for a proof that held.
    func giveBack(_ admission: Admission) {
        let now = clock.sinceBoot()
        table.withLock { table in
            let place = admission.place
            // One that was forgotten is full.
            if case .own(let network) = place, table.own[network] == nil { return }
            var bucket = self.bucket(at: place, in: table, now)
            bucket.milliTokens = min(full, bucket.milliTokens + 1_000)
            if case .own(let network) = place, bucket.milliTokens == full {
                table.own[network] = nil
            } else {
                keep(bucket, at: place, in: &table)
            }
        }
    }

    /// How many buckets there are.
    var count: Int { table.withLock { $0.own.count + $0.shared.count } }

    /// Forgets the buckets that are full again.
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
        // The seed of hashes is the process's own: nobody can choose to share with somebody.
        return .shared(Int(network.surroundings.hashValue.magnitude % UInt(Self.shared)))
    }

    private func bucket(at place: Place, in table: Table, _ now: Duration) -> Bucket {
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
        // A minute fills it: no product of a long time overflows.
        let gained = milliseconds >= 60_000 ? full : milliseconds * perMinute / 60
        return Bucket(milliTokens: min(full, bucket.milliTokens + gained), filled: now)
    }
}
