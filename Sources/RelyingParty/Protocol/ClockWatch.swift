// SPDX-License-Identifier: Apache-2.0
import Posix

/// Decides whether the wall clock is trustworthy enough to delete records by it.
///
/// A machine may boot with a clock that is years ahead and have it corrected once the network is
/// up. So the wall clock must have run in step with the kernel's boot-time clock for `probation`.
struct ClockWatch {
    /// How long the two clocks must have agreed.
    static let probation = Duration.seconds(600)
    /// Allowed difference in seconds between two checks: the clock may be slewed gradually.
    private static let drift: Int64 = 5

    /// The wall time at boot as last computed, and the time since boot when agreement began.
    private var known: (start: Int64, since: Duration)?

    /// Compares the two clocks; call it at least every few minutes.
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
