// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

/// How a program was called, in the form in which the user reads it before a touch.
///
/// Arguments are quoted as for a shell, so that one cannot be mistaken for several or for none.
/// Nothing is left out of a text: one that is too long to be read at the prompt is none.
package struct ProgramCall: Equatable, Sendable {
    /// The number of bytes to read of a command line; a longer one is not read whole.
    package static let longest = 16_384

    /// The words. The first is argv[0], which the caller of the program chooses.
    let words: [[UInt8]]
    /// Whether the whole command line was read.
    let isWhole: Bool

    /// Parses the contents of /proc/PID/cmdline, proc(5): words, each ended by NUL.
    ///
    /// - Parameter isWhole: whether `text` is all of it.
    package init(_ text: [UInt8], isWhole: Bool = true) {
        // Nothing could be read, or the command line is empty.
        words = text.isEmpty ? [] : text.values
        self.isWhole = isWhole
    }

    /// Returns a line of words and, in brackets after it, further words and notes; nil if it is
    /// shown with more than `Limit.purpose` bytes.
    ///
    /// Unquoted words contain no brackets and no semicolon, so neither the bracketed part nor a
    /// note in it can be imitated.
    static func purpose(_ front: [[UInt8]], aside: [[UInt8]], notes: [[UInt8]]) -> [UInt8]? {
        var line = joined(front)
        var brackets = joined(aside)
        for note in notes {
            if !brackets.isEmpty { brackets += StaticString("; ").bytes }
            brackets += note
        }
        if !brackets.isEmpty {
            line += StaticString(" [").bytes + brackets + StaticString("]").bytes
        }
        // What cannot be shown as it is takes four bytes, `\xNN`, as in `Text`.
        let shown = Printable.escaping(line, invisible: true) { _, text in
            text += StaticString("\\xNN").bytes
        }
        return shown.count <= Limit.purpose ? line : nil
    }

    /// Joins words, quoted as for a shell.
    static func joined(_ words: [[UInt8]]) -> [UInt8] {
        var line: [UInt8] = []
        for (index, word) in words.enumerated() {
            if index > 0 { line.append(UInt8(ascii: " ")) }
            line += quoted(word)
        }
        return line
    }

    private static func quoted(_ word: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "'")
        var isPlain = !word.isEmpty
        for byte in word where !isPlainByte(byte) { isPlain = false }
        if isPlain { return word }
        var text = [quote]
        for byte in word {
            if byte == quote { text += StaticString("'\\'").bytes }
            text.append(byte)
        }
        return text + [quote]
    }

    /// Whether every shell takes a byte literally.
    private static func isPlainByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: StaticString("_@%+=:,./-^").bytes.contains(byte)
        }
    }
}

extension [UInt8] {
    /// The values that each end with NUL, as in /proc/PID/cmdline and /proc/PID/environ.
    var values: [[UInt8]] {
        var values = parts(between: 0)
        if values.last?.isEmpty == true { values.removeLast() }
        return values
    }
}
