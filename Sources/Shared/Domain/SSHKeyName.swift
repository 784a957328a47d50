// SPDX-License-Identifier: Apache-2.0

/// The name of an ssh key, by which its owner tells it from others.
///
/// It can stand in a file's name, on a command line and in a key's comment as it is.
package struct SSHKeyName: Equatable, Hashable, Sendable {
    /// The maximum length in bytes.
    package static let longest = 64

    /// The name: letters and digits of ASCII, and `.`, `_`, `-` and `@` after the first.
    package let bytes: [UInt8]

    /// Wraps a name; nil unless it has 1 to 64 of the bytes that are allowed.
    package init?(_ bytes: [UInt8]) {
        guard let first = bytes.first, bytes.count <= Self.longest, Self.isAlphanumeric(first)
        else { return nil }
        for byte in bytes where !Self.isAllowed(byte) { return nil }
        self.bytes = bytes
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"): true
        default: isAlphanumeric(byte)
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
