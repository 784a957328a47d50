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
    /// The microseconds since 1970 UTC of the same clock, to order what happens within a second.
    package var wallMicroseconds: @Sendable () -> Int64

    /// Combines three clocks; without `wallMicroseconds`, the second is all that is known.
    package init(
        boot: @escaping @Sendable () throws(SystemFault) -> String,
        sinceBoot: @escaping @Sendable () -> Duration,
        wallSeconds: @escaping @Sendable () -> Int64,
        wallMicroseconds: (@Sendable () -> Int64)? = nil
    ) {
        self.boot = boot
        self.sinceBoot = sinceBoot
        self.wallSeconds = wallSeconds
        self.wallMicroseconds = wallMicroseconds ?? { wallSeconds() * 1_000_000 }
    }

    /// The machine's own clocks.
    package static let system = Clock(
        boot: { () throws(SystemFault) -> String in try bootIdentifier() },
        sinceBoot: { reading(CLOCK_BOOTTIME).duration },
        wallSeconds: { reading(CLOCK_REALTIME).seconds },
        wallMicroseconds: { reading(CLOCK_REALTIME).microseconds })
}

private func reading(
    _ clock: clockid_t
) -> (duration: Duration, seconds: Int64, microseconds: Int64) {
    var time = timespec()
    // Neither clock can fail on a kernel that runs this program.
    _ = unsafe clock_gettime(clock, &time)
    let whole = Int64(time.tv_sec)
    let nanoseconds = Int64(time.tv_nsec)
    return (
        .seconds(whole) + .nanoseconds(nanoseconds), whole,
        whole * 1_000_000 + nanoseconds / 1_000
    )
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
