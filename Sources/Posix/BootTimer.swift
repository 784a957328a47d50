// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Readable once a time is over in which the machine may have slept; timerfd_create(2) with
/// CLOCK_BOOTTIME.
package final class BootTimer: Sendable {
    /// Readable from then on.
    package let descriptor: Descriptor

    /// Begins now; at most some centuries.
    package init(after delay: Duration) throws(SystemFault) {
        let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
        descriptor = try Descriptor(
            result: timerfd_create(CLOCK_BOOTTIME, flags), of: "timerfd_create")
        // Nothing at all would switch it off.
        let (seconds, attoseconds) = max(delay, .nanoseconds(1)).components
        var time = itimerspec()
        time.it_value = timespec(
            tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        guard unsafe timerfd_settime(descriptor.number, 0, &time, nil) == 0 else {
            throw SystemFault.current("timerfd_settime")
        }
    }
}
