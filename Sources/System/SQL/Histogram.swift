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

    /// Creates empty figures.
    package init() {}
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
