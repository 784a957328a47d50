// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// A descriptor that becomes readable after a delay, which continues while the machine sleeps.
///
/// timerfd_create(2) with CLOCK_BOOTTIME.
package final class BootTimer: Sendable {
    /// Readable when the delay is over.
    package let descriptor: Descriptor

    /// Starts the delay now; a delay of zero or less is over at once.
    package init(after delay: Duration) throws(SystemFault) {
        let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
        descriptor = try Descriptor(
            result: timerfd_create(CLOCK_BOOTTIME, flags), of: "timerfd_create")
        // A value of zero would disarm the timer; timerfd_settime(2).
        let (seconds, attoseconds) = max(delay, .nanoseconds(1)).components
        var time = itimerspec()
        time.it_value = timespec(
            tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        guard unsafe timerfd_settime(descriptor.number, 0, &time, nil) == 0 else {
            throw SystemFault.current("timerfd_settime")
        }
    }
}
