import HTTP
import Posix
import Synchronization

/// How often an address may begin something without a proof; of IPv6, a network of 64 bits.
///
/// A bucket for each that fills again with time. One that nobody has touched for a minute is full,
/// and is forgotten without being looked for; a flood from more networks than have room shares
/// some buckets. So neither the table nor the work for a call grows with the flood.
final class RateLimit: Sendable {
    /// How many networks have a bucket of their own within a minute.
    private static let mostNetworks = 16_384
    /// How many buckets those share that come when there is no room.
    private static let shared = 256
    private static let minute = Duration.seconds(60)
    private let perMinute: Int64
    private let clock: Clock
    private let table: Mutex<Table>

    /// Whose bucket it is.
    private enum Key: Hashable {
        case network(PeerNetwork)
        case shared(Int)
    }

    private struct Bucket {
        var milliTokens: Int64
        var filled: Duration
    }

    /// The buckets that were touched in this minute, and in the one before.
    private struct Table {
        var newer: [Key: Bucket] = [:]
        var older: [Key: Bucket] = [:]
        var began: Duration
    }

    /// `perMinute` calls a minute, and as many at once.
    init(perMinute: Int, clock: Clock) {
        self.perMinute = Int64(perMinute)
        self.clock = clock
        table = Mutex(Table(began: clock.sinceBoot()))
    }

    /// Takes one from the address's bucket, or says how long to wait.
    func admit(_ address: String) throws(Problem) {
        if let wait = take(1_000, from: address) { throw .slowDown(seconds: wait) }
    }

    /// Says how long to wait where the address's bucket is empty; takes nothing.
    func require(_ address: String) throws(Problem) {
        if let wait = take(0, from: address) { throw .slowDown(seconds: wait) }
    }

    /// Takes one for a proof that did not hold.
    func charge(_ address: String) {
        _ = take(1_000, from: address)
    }

    /// How many buckets there are.
    var count: Int { table.withLock { $0.newer.count + $0.older.count } }

    /// Takes from the address's bucket; or takes nothing, and gives the seconds until one is there.
    private func take(_ milliTokens: Int64, from address: String) -> Int? {
        let network = PeerNetwork(address)
        let now = clock.sinceBoot()
        return table.withLock { table -> Int? in
            turn(&table, at: now)
            let key = key(of: network, in: table)
            let known = table.newer[key] ?? table.older[key]
            var bucket =
                known.map { refilled($0, at: now) }
                ?? Bucket(milliTokens: full, filled: now)
            guard bucket.milliTokens >= 1_000 else {
                table.newer[key] = bucket
                let missing = 1_000 - bucket.milliTokens
                return Int(missing * 60 / (perMinute * 1_000)) + 1
            }
            // A full bucket that is only looked at needs no place.
            guard milliTokens > 0 else { return nil }
            bucket.milliTokens -= milliTokens
            table.newer[key] = bucket
            return nil
        }
    }

    /// Forgets what nobody has touched for a minute: it is full again.
    private func turn(_ table: inout Table, at now: Duration) {
        let passed = now - table.began
        guard passed >= Self.minute else { return }
        table.older = passed < Self.minute * 2 ? table.newer : [:]
        table.newer = [:]
        table.began = now
    }

    private func key(of network: PeerNetwork, in table: Table) -> Key {
        let own = Key.network(network)
        guard table.newer.count >= Self.mostNetworks, table.newer[own] == nil,
            table.older[own] == nil
        else { return own }
        // The seed of hashes is the process's own: nobody can choose to share with somebody.
        return .shared(abs(network.hashValue % Self.shared))
    }

    private var full: Int64 { perMinute * 1_000 }

    private func refilled(_ bucket: Bucket, at now: Duration) -> Bucket {
        let passed = now - bucket.filled
        let milliseconds =
            passed.components.seconds * 1_000
            + passed.components.attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return bucket }
        let gained = min(full, milliseconds * perMinute / 60)
        return Bucket(milliTokens: min(full, bucket.milliTokens + gained), filled: now)
    }
}
