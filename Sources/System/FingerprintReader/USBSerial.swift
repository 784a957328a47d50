// SPDX-License-Identifier: Apache-2.0
import Posix

/// The serial numbers of USB devices, as the kernel read them when they were plugged in.
enum USBSerial {
    /// The longest serial number in bytes: 126 UTF-16 units as UTF-8.
    private static let cap = 126 * 3

    /// The minor number of a USB device node, which follows from bus number and address.
    static func minor(bus: UInt8, address: UInt8) -> Int? {
        guard bus > 0, address > 0 else { return nil }
        return (Int(bus) - 1) * 128 + Int(address) - 1
    }

    /// Reads the serial number of the device with this bus number and address.
    ///
    /// The result is nil if the device has none, or if it is blank, too long, or not UTF-8. The
    /// device is not opened: sysfs has a directory for each device node, named by its major number,
    /// 189 (`USB_DEVICE_MAJOR`), and its minor number.
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
