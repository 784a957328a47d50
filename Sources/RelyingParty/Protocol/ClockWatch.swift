// SPDX-License-Identifier: Apache-2.0
import Posix

/// Decides whether the wall clock can be trusted for deleting records.
///
/// A machine may boot with a clock that is years ahead and is corrected once the network is up. So
/// the wall clock must have run in step with the kernel's boot-time clock for `probation`; any step
/// starts that time over.
struct ClockWatch {
    /// How long the two clocks must have agreed.
    static let probation = Duration.seconds(600)
    /// The difference in seconds allowed between two checks, since the clock may be slewed
    /// gradually.
    private static let drift: Int64 = 5

    /// The wall time at boot as last computed, and the time since boot at which agreement began.
    private var known: (start: Int64, since: Duration)?

    /// Compares the two clocks and returns whether they have agreed long enough.
    ///
    /// Call it at least every few minutes; the first call always returns false.
    mutating func isSteady(_ clock: Clock) -> Bool {
        let passed = clock.sinceBoot()
        let start = clock.wallSeconds() - passed.components.seconds
        guard let known, abs(start - known.start) <= Self.drift else {
            self.known = (start, passed)
            return false
        }
        self.known = (start, known.since)
        return passed - known.since >= Self.probation
    }
}
