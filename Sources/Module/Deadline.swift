// SPDX-License-Identifier: Apache-2.0
import CPAMModule

/// A moment on CLOCK_BOOTTIME by which something must be finished.
///
/// That clock also advances while the process is stopped and while the machine is suspended. If it
/// cannot be read, every deadline has passed.
struct Deadline {
    private let nanoseconds: UInt64

    /// The moment this many milliseconds from now.
    @inline(never)
    init(milliseconds: UInt32) {
        let (end, overflow) = Deadline.now.addingReportingOverflow(UInt64(milliseconds) * 1_000_000)
        // If the clock cannot be read, the deadline has passed already.
        nanoseconds = overflow ? 0 : end
    }

    private init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The earlier of this deadline and the moment this many milliseconds from now.
    func within(milliseconds: UInt32) -> Deadline {
        let other = Deadline(milliseconds: milliseconds)
        return Deadline(nanoseconds: min(nanoseconds, other.nanoseconds))
    }

    /// The remaining milliseconds, rounded up; 0 once the deadline has passed.
    var millisecondsLeft: Int32 {
        // Not inlined, for the size of the module.
        @inline(never) get {
            let now = Deadline.now
            guard nanoseconds > now else { return 0 }
            return Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000)
        }
    }

    private static var now: UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return .max }
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}
