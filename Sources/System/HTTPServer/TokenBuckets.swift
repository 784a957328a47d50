// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// The caller has used up its calls for now.
package struct TooManyRequests: Error, Equatable {
    /// The time to wait until the next call, in seconds.
    package let seconds: Int
}

/// Token buckets by name, in bounded memory.
///
/// Each bucket is refilled continuously. For any number of names:
/// - There are at most 16,384 buckets for single names, and those shared by the rest, so that a
///   flood increases neither memory nor the cost of a call beyond that.
/// - A bucket is dropped only when it is full again. So no count is lost, and a name that has a
///   bucket keeps it during a flood.
/// - When there is no room, a new name shares a bucket with the names of its crowd.
package final class TokenBuckets<Name: Hashable & Sendable>: Sendable {
    /// A bucket from which a token is to be taken.
    package struct Request: Sendable {
        let name: Name
        /// The tokens of a full bucket, which are also those that it gains in a minute.
        let perMinute: Int
        /// The number of the bucket to share if there is no room; with nil, none is then taken.
        let crowd: Int?

        /// Names a bucket.
        package init(_ name: Name, perMinute: Int, crowd: Int?) {
            self.name = name
            self.perMinute = perMinute
            self.crowd = crowd
        }
    }

    /// Tokens taken from one or more buckets, which can be returned to them.
    package struct Admission: Sendable {
        fileprivate let places: [Place]
    }

    fileprivate enum Place: Sendable {
        case own(Name)
        case shared(Int)
    }

    private struct Table {
        var own: [Name: Bucket] = [:]
        var shared: [Int: Bucket] = [:]
        /// When full buckets were last removed.
        var swept: Duration
    }

    /// The minimum time between two searches for full buckets while there is room, and while there
    /// is none.
    private let pauses = (roomy: Duration.seconds(60), full: Duration.seconds(1))
    /// The maximum number of names with a bucket of their own.
    private let mostNames = 16_384
    private let clock: Clock
    private let table: Mutex<Table>

    /// Creates an empty table.
    package init(clock: Clock) {
        self.clock = clock
        table = Mutex(Table(swept: clock.sinceBoot()))
    }

    /// Takes a token from each of these buckets, or from none.
    ///
    /// - Throws: the time to wait until none of them is empty.
    package func take(_ requests: [Request]) throws(TooManyRequests) -> Admission {
        let now = clock.sinceBoot()
        let (places, wait) = table.withLock { table -> ([Place], Int) in
            sweep(&table, at: now)
            var places: [Place] = []
            var buckets: [Bucket] = []
            var wait = 0
            for request in requests {
                guard let place = place(of: request, in: table) else { continue }
                var bucket = self.bucket(at: place, of: request, in: table, now: now)
                wait = max(wait, bucket.secondsToToken)
                bucket.milliTokens -= 1_000
                places.append(place)
                buckets.append(bucket)
            }
            guard wait == 0 else { return ([], wait) }
            for (place, bucket) in zip(places, buckets) { keep(bucket, at: place, in: &table) }
            return (places, 0)
        }
        guard wait == 0 else { throw TooManyRequests(seconds: wait) }
        return Admission(places: places)
    }

    /// Returns the tokens, for a call that is not to be counted because its proof was valid.
    package func giveBack(_ admission: Admission) {
        let now = clock.sinceBoot()
        table.withLock { table in
            for place in admission.places {
                // A bucket that was dropped was full.
                guard var bucket = known(at: place, in: table) else { continue }
                bucket = bucket.refilled(at: now)
                bucket.milliTokens = min(bucket.full, bucket.milliTokens + 1_000)
                keep(bucket.milliTokens == bucket.full ? nil : bucket, at: place, in: &table)
            }
        }
    }

    /// The number of buckets in memory.
    package var count: Int { table.withLock { $0.own.count + $0.shared.count } }

    /// Removes full buckets; at most once a minute, or once a second while there is no room.
    private func sweep(_ table: inout Table, at now: Duration) {
        let pause = table.own.count < mostNames ? pauses.roomy : pauses.full
        guard now - table.swept >= pause else { return }
        table.swept = now
        table.own = table.own.filter { !$0.value.refilled(at: now).isFull }
        table.shared = table.shared.filter { !$0.value.refilled(at: now).isFull }
    }

    private func place(of request: Request, in table: Table) -> Place? {
        guard table.own.count >= mostNames, table.own[request.name] == nil else {
            return .own(request.name)
        }
        return request.crowd.map { .shared($0) }
    }

    private func known(at place: Place, in table: Table) -> Bucket? {
        switch place {
        case .own(let name): table.own[name]
        case .shared(let number): table.shared[number]
        }
    }

    private func bucket(
        at place: Place, of request: Request, in table: Table, now: Duration
    ) -> Bucket {
        let perMinute = Int64(request.perMinute)
        return known(at: place, in: table)?.refilled(at: now)
            ?? Bucket(perMinute: perMinute, milliTokens: perMinute * 1_000, filled: now)
    }

    private func keep(_ bucket: Bucket?, at place: Place, in table: inout Table) {
        switch place {
        case .own(let name): table.own[name] = bucket
        case .shared(let number): table.shared[number] = bucket
        }
    }
}

/// One bucket: the tokens that it had, and when.
private struct Bucket {
    let perMinute: Int64
    var milliTokens: Int64
    var filled: Duration

    var full: Int64 { perMinute * 1_000 }

    var isFull: Bool { milliTokens >= full }

    /// The time until there is a token, in whole seconds; 0 if there is one.
    var secondsToToken: Int {
        guard milliTokens < 1_000 else { return 0 }
        return Int((1_000 - milliTokens) * 60 / full) + 1
    }

    func refilled(at now: Duration) -> Bucket {
        let passed = now - filled
        let milliseconds =
            passed.components.seconds * 1_000
            + passed.components.attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return self }
        // A minute fills any bucket; the limit prevents an overflow after a long time.
        let gained = milliseconds >= 60_000 ? full : milliseconds * perMinute / 60
        return Bucket(
            perMinute: perMinute, milliTokens: min(full, milliTokens + gained), filled: now)
    }
}
