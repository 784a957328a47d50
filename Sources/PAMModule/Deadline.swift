// SPDX-License-Identifier: Apache-2.0
import CPAMModule

/// A moment of CLOCK_BOOTTIME by which something must be over: time goes on while the process is
/// stopped and while the machine sleeps.
struct Deadline {
    private let nanoseconds: UInt64

    /// So many milliseconds from now.
    init(milliseconds: UInt32) {
        let (end, overflow) = Deadline.now.addingReportingOverflow(UInt64(milliseconds) * 1_000_000)
        // Without a clock it has passed already.
        nanoseconds = overflow ? 0 : end
    }

    private init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The earlier of this and so many milliseconds from now.
    func within(milliseconds: UInt32) -> Deadline {
        let other = Deadline(milliseconds: milliseconds)
        return Deadline(nanoseconds: min(nanoseconds, other.nanoseconds))
    }

    /// What is left, rounded up, in milliseconds; 0 when it has passed.
    var millisecondsLeft: Int32 {
        let now = Deadline.now
        guard nanoseconds > now else { return 0 }
        return Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000)
    }

    private static var now: UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return .max }
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}
