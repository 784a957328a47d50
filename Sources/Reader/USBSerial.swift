// SPDX-License-Identifier: Apache-2.0
import Posix

/// The serial numbers of USB devices, as the kernel read them when they were plugged in.
enum USBSerial {
    /// The most bytes that one can have: 126 characters of UTF-16.
    private static let cap = 126 * 3

    /// The minor number of a USB device's node, which is fixed.
    static func minor(bus: UInt8, address: UInt8) -> Int? {
        guard bus > 0, address > 0 else { return nil }
        return (Int(bus) - 1) * 128 + Int(address) - 1
    }

    /// Reads the serial number of the device at this address of this bus; nil where it has none.
    ///
    /// `major` and minor of a USB device's node are fixed (`USB_DEVICE_MAJOR`), and sysfs names its
    /// directory by them: the device itself is not opened.
    static func read(bus: UInt8, address: UInt8, sysfs: String = "/sys") -> String? {
        guard let minor = minor(bus: bus, address: address) else { return nil }
        let path = "\(sysfs)/dev/char/189:\(minor)/serial"
        guard var bytes = try? readFile(path, cap: cap + 1), bytes.last == UInt8(ascii: "\n") else {
            return nil
        }
        bytes.removeLast()
        guard !bytes.allSatisfy({ $0 == UInt8(ascii: " ") }), bytes.count <= cap else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
