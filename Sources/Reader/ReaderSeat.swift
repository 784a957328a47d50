// SPDX-License-Identifier: Apache-2.0
import CFprint
import Loop
import Posix

/// The seats that USB devices are attached to, as udev's database has it (`loginctl attach`).
enum USBSeat {
    /// The seat of what is attached to no other.
    static let standard = "seat0"
    /// The most bytes of a record that are looked at, and of a seat's name.
    private static let (cap, nameCap) = (65_536, 255)

    /// Reads the seat of the device at this address of this bus.
    ///
    /// udev names its records by type and number of the device's node; see `USBSerial`.
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
    /// The serial number on the bus, without opening the device.
    @ReaderActor
    var serial: String? {
        unsafe onUSB { device in
            unsafe USBSerial.read(
                bus: g_usb_device_get_bus(device), address: g_usb_device_get_address(device))
        } ?? nil
    }

    /// The seat that the device is attached to; readers that are on no USB belong to the machine.
    @ReaderActor
    var seat: String {
        unsafe onUSB { device in
            unsafe USBSeat.read(
                bus: g_usb_device_get_bus(device), address: g_usb_device_get_address(device))
        } ?? USBSeat.standard
    }

    /// Does something with the device on its bus; nil where it is on no USB.
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
