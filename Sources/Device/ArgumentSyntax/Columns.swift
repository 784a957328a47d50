// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// The number of columns that a text takes up on a terminal.
package enum Columns {
    /// Returns the columns of a whole text in UTF-8.
    package static func count(of text: Bytes) -> Int {
        String(decoding: text, as: UTF8.self).unicodeScalars.reduce(0) { $0 + width(of: $1) }
    }

    /// Returns the longest beginning of a text that fits into this number of columns.
    package static func prefix(of text: Bytes, columns: Int) -> Bytes {
        var rest = columns
        var beginning = String.UnicodeScalarView()
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            rest -= width(of: scalar)
            guard rest >= 0 else { break }
            beginning.append(scalar)
        }
        return Bytes(String(beginning).utf8)
    }

    /// The columns of a help page, as many as a line of it may have.
    static let ofHelp = 100

    /// Breaks a text into lines of at most this many columns, at spaces.
    ///
    /// A word that is wider than a line, as in a language that writes no spaces, is broken where the
    /// line is full.
    static func wrapped(_ text: Bytes, columns: Int) -> [Bytes] {
        var lines: [Bytes] = []
        var rest = text[...]
        while count(of: Bytes(rest)) > columns {
            let full = prefix(of: Bytes(rest), columns: columns)
            // The space itself may stand in the first column that no longer fits.
            let space = rest.prefix(full.count + 1).lastIndex(of: UInt8(ascii: " "))
            guard let space, space > rest.startIndex else {
                lines.append(full)
                rest = rest.dropFirst(full.count)
                continue
            }
            lines.append(Bytes(rest[..<space]))
            rest = rest[(space + 1)...]
        }
        return lines + [Bytes(rest)]
    }

    /// Returns 0 for a character that is drawn over the one before it, and 2 for a wide one.
    ///
    /// The ranges follow Unicode, UAX #11. wcwidth(3) is not used, because it depends on the locale
    /// that is set, and works only where that locale is installed.
    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
