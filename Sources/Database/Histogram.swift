// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// How often values fell below which bounds, and their sum.
package final class Histogram: Sendable {
    private struct State {
        var counts: [Int]
        var sum: Int64 = 0
    }

    /// The bounds, ascending; a value that is a bound counts below it.
    package let bounds: [Int64]
    private let state: Mutex<State>

    /// Nothing has been counted yet.
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

    /// How many fell between a bound and the one before it, those above the last at the end; and
    /// the sum of all.
    package var snapshot: (counts: [Int], sum: Int64) {
        state.withLock { ($0.counts, $0.sum) }
    }
}

/// What a database has done since it was opened.
package final class DatabaseFigures: Sendable {
    /// How long transactions waited for a connection, in nanoseconds.
    package let waits = Histogram(
        bounds: [100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000])
    /// How many writes shared a commit.
    package let batches = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])

    /// Who may come to it soon.
    package let callers = Callers()

    /// Nothing has been done yet.
    package init() {}
}

/// How many calls are being answered now: each may want to write before it is.
package final class Callers: Sendable {
    private let underway = Atomic(0)

    /// Nobody calls yet.
    init() {}

    /// How many there are; a moment later there may be more or less.
    package var count: Int { underway.load(ordering: .relaxed) }

    /// One more has come.
    package func enter() { underway.add(1, ordering: .relaxed) }

    /// One was answered.
    package func leave() { underway.subtract(1, ordering: .relaxed) }
}

/// CLOCK_MONOTONIC in nanoseconds.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
