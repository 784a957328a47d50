// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Counts values by range, and adds them up; any thread may use it.
package final class Histogram: Sendable {
    private struct State {
        var counts: [Int]
        var sum: Int64 = 0
    }

    /// The upper bounds of the ranges, inclusive and ascending.
    package let bounds: [Int64]
    private let state: Mutex<State>

    /// Creates an empty histogram.
    package init(bounds: [Int64]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    /// Counts a value.
    package func note(_ value: Int64) {
        let place = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[place] += 1
            state.sum &+= value
        }
    }

    /// The counts per range, not cumulative, and the sum of all values.
    ///
    /// The last count is for values above all bounds.
    package var snapshot: (counts: [Int], sum: Int64) {
        state.withLock { ($0.counts, $0.sum) }
    }
}

/// Figures of a database since it was opened.
package final class DatabaseFigures: Sendable {
    /// The times that transactions waited for a connection, in nanoseconds.
    package let waits = Histogram(
        bounds: [100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000])
    /// The numbers of writes that shared a commit.
    package let batches = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])

    /// The calls that are being answered, each of which may soon write.
    package let callers = Callers()

    private let faults = Mutex<[DatabaseFault.Kind: Int]>([:])
    /// When a commit last wrote something, and when a transaction last failed; 0 for never.
    private let written = Atomic<Int64>(0)
    private let failed = Atomic<Int64>(0)

    /// Creates empty figures.
    package init() {}

    /// How many transactions have failed, by kind; every kind is in it.
    package var faultCounts: [(kind: DatabaseFault.Kind, count: Int)] {
        let counts = faults.withLock { $0 }
        return DatabaseFault.Kind.allCases.map { ($0, counts[$0] ?? 0) }
    }

    /// Whether a commit that changed something has succeeded within this time.
    package func hasWritten(within time: Duration) -> Bool { Self.isWithin(time, of: written) }

    /// Whether a transaction has failed within this time.
    package func hasFailed(within time: Duration) -> Bool { Self.isWithin(time, of: failed) }

    /// Notes that a commit which changed something is durable now.
    func noteWrite() { written.store(monotonicNanoseconds(), ordering: .relaxed) }

    /// Counts a transaction that failed.
    func note(_ fault: DatabaseFault) {
        failed.store(monotonicNanoseconds(), ordering: .relaxed)
        faults.withLock { $0[fault.kind, default: 0] += 1 }
    }

    private static func isWithin(_ time: Duration, of moment: borrowing Atomic<Int64>) -> Bool {
        let moment = moment.load(ordering: .relaxed)
        return moment > 0 && monotonicNanoseconds() - moment < Int64(time / .nanoseconds(1))
    }
}

/// The number of calls that are being answered, each of which may still write.
///
/// SQLite's writer uses it to decide how long a commit waits for other writes to join.
package final class Callers: Sendable {
    private let underway = Atomic(0)

    init() {}

    /// The present number, which may change at any moment.
    package var count: Int { underway.load(ordering: .relaxed) }

    /// Counts a call that begins.
    package func enter() { underway.add(1, ordering: .relaxed) }

    /// Counts a call that ends.
    package func leave() { underway.subtract(1, ordering: .relaxed) }
}

/// The time of CLOCK_MONOTONIC in nanoseconds.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
