// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The times a decision may depend on; the closures are replaced in tests only.
package struct Clock: Sendable {
    /// The kernel's id of this boot, a UUID; another one means that `sinceBoot` began anew.
    package var boot: @Sendable () throws(SystemFault) -> String
    /// Time since boot, suspend included; clock_gettime(2) CLOCK_BOOTTIME. Cannot be set back.
    package var sinceBoot: @Sendable () -> Duration
    /// Whole seconds since 1970 UTC; for people to read, anybody may have set it.
    package var wallSeconds: @Sendable () -> Int64

    /// Joins three sources of time.
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

/// Reads /proc/sys/kernel/random/boot_id, random(4): a UUID in text.
private func bootIdentifier() throws(SystemFault) -> String {
    let path = "/proc/sys/kernel/random/boot_id"
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW
    let file = try Descriptor(result: unsafe open(path, flags), of: "open", on: path)
    guard let bytes = try readWhole(file, cap: 37, name: path), bytes.count == 37 else {
        throw SystemFault("read", on: path, code: EINVAL)
    }
    return String(decoding: bytes.dropLast(), as: UTF8.self)
}
