// SPDX-License-Identifier: Apache-2.0
import CFprint
import MainContext
import Posix

/// The seats that USB devices belong to, as udev's database records them.
///
/// `loginctl attach` assigns a device to a seat. A device without a record, or with an unusable
/// one, belongs to `seat0`.
enum USBSeat {
    /// The seat of every device that was not attached to another one.
    static let standard = "seat0"
    /// Size limits in bytes: of a udev record, and of a seat's name.
    private static let (cap, nameCap) = (65_536, 255)

    /// Reads the seat of the device with this bus number and address.
    ///
    /// udev names its records by type, major and minor number of the device node; see `USBSerial`.
    static func read(bus: UInt8, address: UInt8, run: String = "/run") -> String {
        guard let minor = USBSerial.minor(bus: bus, address: address),
            let bytes = try? readFile("\(run)/udev/data/c189:\(minor)", cap: cap),
            bytes.count <= cap
        else { return standard }
        let mark = Array("E:ID_SEAT=".utf8)
        for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: mark) {
            let name = line.dropFirst(mark.count)
            guard !name.isEmpty, name.count <= nameCap else { return standard }
            return String(decoding: name, as: UTF8.self)
        }
        return standard
    }
}

extension DeviceHandle {
    /// The USB serial number, read without opening the device; nil if it has none.
    @ReaderActor
    var serial: String? {
        unsafe onUSB { device in
            unsafe USBSerial.read(
                bus: g_usb_device_get_bus(device), address: g_usb_device_get_address(device))
        } ?? nil
    }

    /// The seat of the device; `seat0` for a reader that is not on USB.
    @ReaderActor
    var seat: String {
        unsafe onUSB { device in
            unsafe USBSeat.read(
                bus: g_usb_device_get_bus(device), address: g_usb_device_get_address(device))
        } ?? USBSeat.standard
    }

    /// Calls `body` with the reader's USB device; nil if the reader is not on USB.
    @ReaderActor
    func onUSB<Value>(_ body: (UnsafeMutablePointer<GUsbDevice>) -> Value) -> Value? {
        let found = unsafe property("fpi-usb-device", of: gpointer(pointer)) { value -> Value? in
            guard let object = unsafe g_value_get_object(value) else { return nil }
            let device = unsafe object.assumingMemoryBound(to: GUsbDevice.self)
            return unsafe body(device)
        }
        return found ?? nil
    }
}
