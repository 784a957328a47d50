// SPDX-License-Identifier: Apache-2.0
import Domain

/// Lower-case hexadecimal, two characters per byte.
package enum Hexadecimal {
    /// Returns two digits for each byte.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return text
    }

    /// Decodes a text; nil for an odd length or any character other than `0`–`9` and `a`–`f`.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = value(text[index]), let low = value(text[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Returns the digit for a number; only its four low bits may be set.
    static func digit(_ value: UInt8, upperCase: Bool = false) -> UInt8 {
        if value < 10 { return UInt8(ascii: "0") + value }
        return (upperCase ? UInt8(ascii: "A") : UInt8(ascii: "a")) + (value & 15) - 10
    }

    /// Returns the number of a lower-case digit; nil for any other character.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension FixedBytes {
    /// Decodes two lower-case digits for each byte; nil for anything else.
    package init?(hexadecimal digits: [UInt8]) {
        guard let bytes = Hexadecimal.decode(digits) else { return nil }
        self.init(bytes)
    }

    /// The bytes in hexadecimal, two lower-case digits for each.
    package var hexadecimal: [UInt8] { Hexadecimal.encode(bytes) }
}
