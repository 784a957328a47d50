// SPDX-License-Identifier: Apache-2.0
import Posix

/// Whether the wall clock can be believed enough to delete by it.
///
/// A machine may boot with a clock that is years ahead, and have it set right once there is a
/// network. So it must have gone in step with the kernel's own time for a while.
struct ClockWatch {
    /// How long that is.
    static let probation = Duration.seconds(600)
    /// Between two looks it may go apart by so many seconds: a clock that is set right bit by bit.
    private static let drift: Int64 = 5

    /// The wall clock when the kernel's own began, and since when that is so.
    private var known: (start: Int64, since: Duration)?

    /// Looks at both, at least every few minutes.
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
