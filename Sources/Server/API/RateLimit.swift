import Posix
import Synchronization

/// How often an address may begin something without a proof.
///
/// A bucket for each address that fills again with time; a flood from many addresses ends in one
/// bucket that they share, so that the table cannot grow without end.
final class RateLimit: Sendable {
    private static let mostAddresses = 10_000
    private let perMinute: Int64
    private let clock: Clock
    private let buckets = Mutex<[String: Bucket]>([:])

    private struct Bucket {
        var milliTokens: Int64
        var filled: Duration
    }

    /// `perMinute` calls a minute, and as many at once.
    init(perMinute: Int, clock: Clock) {
        self.perMinute = Int64(perMinute)
        self.clock = clock
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

    /// Takes from the address's bucket; or takes nothing, and gives the seconds until one is there.
    private func take(_ milliTokens: Int64, from address: String) -> Int? {
        let now = clock.sinceBoot()
        return buckets.withLock { buckets -> Int? in
            if buckets[address] == nil, buckets.count >= Self.mostAddresses {
                buckets = buckets.filter { refilled($0.value, at: now).milliTokens < full }
            }
            let key = buckets[address] != nil || buckets.count < Self.mostAddresses ? address : ""
            var bucket = refilled(
                buckets[key] ?? Bucket(milliTokens: full, filled: now), at: now)
            defer { buckets[key] = bucket }
            guard bucket.milliTokens >= 1_000 else {
                let missing = 1_000 - bucket.milliTokens
                return Int(missing * 60 / (perMinute * 1_000)) + 1
            }
            bucket.milliTokens -= milliTokens
            return nil
        }
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
