// SPDX-License-Identifier: Apache-2.0
import CSSHProvider

/// A moment on CLOCK_BOOTTIME by which something must have happened.
///
/// If the clock cannot be read, every deadline has passed.
struct ProviderDeadline {
    private let nanoseconds: UInt64

    /// The moment this many milliseconds from now.
    init(milliseconds: UInt32) {
        let (end, overflow) = Self.now.addingReportingOverflow(UInt64(milliseconds) * 1_000_000)
        nanoseconds = overflow ? 0 : end
    }

    /// The remaining milliseconds, rounded up; 0 once the moment has passed.
    var millisecondsLeft: Int32 {
        let now = Self.now
        guard nanoseconds > now else { return 0 }
        return Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000)
    }

    private static var now: UInt64 {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return .max }
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}
