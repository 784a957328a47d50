// SPDX-License-Identifier: Apache-2.0
/// Decides which characters may be shown in a line of text, and escapes all others.
///
/// Shown are well-formed UTF-8 characters that are not control characters. Control characters here
/// are C0, DEL, C1, the line and paragraph separators, and the marks that change the direction of
/// writing: they could make a line look different from what it says. Canonical text
/// (`PercentEncoding`), prompts and terminal output rely on this.
package enum Printable {
    /// Replaces every byte of a character that may not be shown.
    ///
    /// - Parameter text: the bytes; those that are not well-formed UTF-8 are replaced one by one.
    /// - Parameter further: one more ASCII character to replace.
    /// - Parameter invisible: whether to replace characters without visible width as well;
    ///   canonical text that is signed leaves them as they are.
    /// - Parameter escape: appends the replacement of a byte.
    @inline(never)
    package static func escaping(
        _ text: [UInt8], and further: UInt8? = nil, invisible: Bool = false,
        by escape: (UInt8, inout [UInt8]) -> Void
    ) -> [UInt8] {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            let length = characterLength(text, index: index)
            let stands =
                length > 0 && text[index] != further
                && !isControl(text, index: index, length: length)
                && !(invisible && isInvisible(scalar(text, index: index, length: length)))
            for byte in text[index..<index + max(length, 1)] {
                if stands { escaped.append(byte) } else { escape(byte, &escaped) }
            }
            index += max(length, 1)
        }
        return escaped
    }

    /// The length in bytes of the well-formed character at an index (Unicode, table 3-7); 0 if the
    /// bytes there are not well-formed.
    private static func characterLength(_ text: [UInt8], index: Int) -> Int {
        let lead = text[index]
        if lead < 0x80 { return 1 }
        let second: ClosedRange<UInt8>
        let length: Int
        switch lead {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return 0
        }
        guard text.count - index >= length, second.contains(text[index + 1]) else { return 0 }
        for offset in 2..<length where text[index + offset] & 0xC0 != 0x80 { return 0 }
        return length
    }

    /// The code point of the well-formed character at an index.
    private static func scalar(_ text: [UInt8], index: Int, length: Int) -> UInt32 {
        guard length > 1 else { return UInt32(text[index]) }
        var scalar = UInt32(text[index]) & (0x7F >> UInt32(length))
        for offset in 1..<length { scalar = scalar << 6 | UInt32(text[index + offset] & 0x3F) }
        return scalar
    }

    /// Whether a character is invisible: Unicode's Default_Ignorable_Code_Point, the interlinear
    /// annotation characters, or the blank Braille pattern.
    private static func isInvisible(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0xAD, 0x34F, 0x61C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F,
            0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0x2800, 0x3164, 0xFE00...0xFE0F,
            0xFEFF, 0xFFA0, 0xFFF0...0xFFFB, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A,
            0xE0000...0xE0FFF:
            true
        default: false
        }
    }

    /// Whether the well-formed character at an index is a control character as described above.
    private static func isControl(_ text: [UInt8], index: Int, length: Int) -> Bool {
        let lead = text[index]
        switch length {
        case 1: return lead < 0x20 || lead == 0x7F
        case 2:
            // U+0080–009F (C1) and U+061C.
            return lead == 0xC2 && text[index + 1] < 0xA0
                || lead == 0xD8 && text[index + 1] == 0x9C
        case 3:
            guard lead == 0xE2 else { return false }
            // U+200E–200F, U+2028–202E, U+2066–2069
            switch UInt16(text[index + 1]) << 8 | UInt16(text[index + 2]) {
            case 0x808E...0x808F, 0x80A8...0x80AE, 0x81A6...0x81A9: return true
            default: return false
            }
        default: return false
        }
    }
}
