// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The clocks that decisions depend on, which only tests replace.
package struct Clock: Sendable {
    /// The kernel's id of this boot, a UUID.
    ///
    /// When it changes, `sinceBoot` has started again from zero.
    package var boot: @Sendable () throws(SystemFault) -> String
    /// The time since boot, including sleep, CLOCK_BOOTTIME; it cannot be set back.
    package var sinceBoot: @Sendable () -> Duration
    /// The seconds since 1970 UTC, for display only, because this clock can be set.
    package var wallSeconds: @Sendable () -> Int64

    /// Combines three clocks.
    package init(
        boot: @escaping @Sendable () throws(SystemFault) -> String,
        sinceBoot: @escaping @Sendable () -> Duration,
        wallSeconds: @escaping @Sendable () -> Int64
    ) {
        self.boot = boot
        self.sinceBoot = sinceBoot
        self.wallSeconds = wallSeconds
    }

    /// The machine's own clocks.
    package static let system = Clock(
        boot: { () throws(SystemFault) -> String in try bootIdentifier() },
        sinceBoot: { reading(CLOCK_BOOTTIME).duration },
        wallSeconds: { reading(CLOCK_REALTIME).seconds })
}

private func reading(_ clock: clockid_t) -> (duration: Duration, seconds: Int64) {
    var time = timespec()
    // Neither clock can fail on a kernel that runs this program.
    _ = unsafe clock_gettime(clock, &time)
    let whole = Int64(time.tv_sec)
    return (.seconds(whole) + .nanoseconds(Int64(time.tv_nsec)), whole)
}

/// Reads /proc/sys/kernel/random/boot_id, a UUID as text; random(4).
private func bootIdentifier() throws(SystemFault) -> String {
    let path = "/proc/sys/kernel/random/boot_id"
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW
    let file = try Descriptor(result: unsafe open(path, flags), of: "open", on: path)
    guard let bytes = try readWhole(file, cap: 37, name: path), bytes.count == 37 else {
        throw SystemFault("read", on: path, code: EINVAL)
    }
    return String(decoding: bytes.dropLast(), as: UTF8.self)
}
