// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol

/// A directory in the form of fprintd's store, filled with prints that the real fprintd wrote; see
/// Tests/Fixtures/README.md.
package struct FprintdStore: Sendable {
    /// Readers that the real one enrolled on; the raw value is libfprint's name of the driver.
    package enum Driver: String, Sendable {
        case text = "virtual_device"
        case storage = "virtual_device_storage"
        case image = "virtual_image"
    }

    /// Where it is, as this process sees it.
    package let path: String

    /// The store in a directory that need not be there.
    package init(path: String) { self.path = path }

    /// What the real fprintd wrote for an account: the bytes of one file.
    package static func genuine(
        _ account: String, _ driver: Driver, _ finger: Finger
    ) throws(TestFault) -> [UInt8] {
        try Layout.read(
            "\(Layout.package)/Tests/Fixtures/fprintd/\(place(account, driver, finger))")
    }

    /// The path of a print in the store, whether it is there or not.
    package func file(_ account: String, _ driver: Driver, _ finger: Finger) -> String {
        "\(path)/\(Self.place(account, driver, finger))"
    }

    /// Puts what the real fprintd wrote where that put it.
    package func add(
        _ account: String, _ driver: Driver, _ fingers: Finger...
    ) throws(TestFault) {
        for finger in fingers {
            try write(
                Self.genuine(account, driver, finger), at: Self.place(account, driver, finger))
        }
    }

    /// Writes a file below the store, and the directories that it is in, as fprintd has them.
    package func write(
        _ bytes: [UInt8], at place: String, mode: UInt32 = 0o644
    ) throws(TestFault) {
        var directory = path
        _ = unsafe mkdir(directory, 0o700)
        for part in place.split(separator: "/").dropLast() {
            directory += "/" + part
            _ = unsafe mkdir(directory, 0o700)
        }
        let whole = "\(path)/\(place)"
        let opened = unsafe open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let file = try Descriptor(opened < 0 ? -errno : opened, "open", whole)
        try file.write(bytes)
        guard fchmod(file.number, mode_t(mode)) == 0 else {
            throw .system(call: "fchmod", subject: whole, code: errno)
        }
    }

    private static func place(_ account: String, _ driver: Driver, _ finger: Finger) -> String {
        "\(account)/\(driver.rawValue)/0/\(String(finger.rawValue, radix: 16))"
    }
}
