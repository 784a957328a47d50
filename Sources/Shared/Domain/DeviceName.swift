// SPDX-License-Identifier: Apache-2.0

/// The name of a device, as its user chose it at the registration: 1 to 64 bytes.
///
/// It tells people which device is meant, and proves nothing: a device may call itself anything,
/// and two may have the same name. It consists of letters and digits of ASCII, spaces and
/// `. - _ ( ) +`, so no terminal, page or spreadsheet takes it for anything but text. It begins with
/// a letter or a digit and does not end with a space.
package struct DeviceName: Hashable, Sendable {
    /// The maximum number of bytes.
    package static let longest = 64
    /// The bytes, all of them ASCII.
    package let bytes: [UInt8]

    /// Returns nil if the bytes are not a valid name.
    package init?(_ bytes: [UInt8]) {
        guard (1...Self.longest).contains(bytes.count), bytes.allSatisfy(Self.isAllowed),
            let first = bytes.first, Self.isAlphanumeric(first), bytes.last != Self.space
        else { return nil }
        self.bytes = bytes
    }

    /// Makes the name of a machine one of a device: bytes that no name has are left out, and the
    /// rest is cut to the maximum.
    ///
    /// Returns nil if nothing is left.
    package init?(ofMachine bytes: [UInt8]) {
        let usable = bytes.filter(Self.isAllowed).drop { !Self.isAlphanumeric($0) }
        var name = [UInt8](usable.prefix(Self.longest))
        while name.last == Self.space { name.removeLast() }
        self.init(name)
    }

    private static let space = UInt8(ascii: " ")

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case space, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "+"):
            true
        default: isAlphanumeric(byte)
        }
    }
}
