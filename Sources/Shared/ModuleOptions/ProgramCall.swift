// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// How a program was called, in the form in which the user reads it before a touch.
///
/// Arguments are quoted as for a shell, so that one cannot be mistaken for several or for none. A
/// text that is too long loses its middle: what runs stands at the beginning, and the end stays
/// visible.
package struct ProgramCall: Equatable, Sendable {
    /// The longest purpose in bytes.
    package static let longestPurpose = 1_024
    /// The number of bytes to read from the beginning of a command line.
    package static let longestBeginning = 16_384
    /// The number of bytes to keep of its end, if it is longer.
    package static let longestEnd = 1_024

    /// The sizes before and after the ellipsis, of one word and of the text in brackets.
    private static let word = (head: 160, tail: 80)
    private static let brackets = (head: 200, tail: 95)

    /// The words at the beginning. The first is argv[0], which the caller of the program chooses.
    let words: [[UInt8]]
    private let end: [UInt8]?

    /// Parses the contents of /proc/PID/cmdline, proc(5): words, each ended by NUL.
    ///
    /// - Parameter end: the last bytes of the command line; nil if `beginning` is all of it.
    package init(beginning: [UInt8], end: [UInt8]? = nil) {
        words = ProgramCall.words(beginning)
        self.end = end
    }

    /// Whether the whole command line was read.
    var isWhole: Bool { end == nil }

    /// Returns a line of words and, in brackets after it, further words, at most `longestPurpose`
    /// bytes.
    ///
    /// Unquoted words contain no brackets, so the bracketed part cannot be imitated.
    func purpose(_ front: [[UInt8]], aside: [[UInt8]]) -> [UInt8] {
        var brackets = ProgramCall.joined(aside)
        let (head, tail) = ProgramCall.brackets
        if brackets.count > head + tail + 5 {
            brackets = ProgramCall.cut(brackets, last: brackets, head: head, tail: tail)
        }
        if !brackets.isEmpty {
            brackets = StaticString(" [").bytes + brackets + [UInt8(ascii: "]")]
        }
        let line = ProgramCall.joined(front)
        let room = ProgramCall.longestPurpose - brackets.count
        guard end != nil || line.count > room else { return line + brackets }
        let last = end.map { ProgramCall.joined(ProgramCall.words($0)) } ?? line
        let end = (room - 5) * 5 / 16
        return ProgramCall.cut(line, last: last, head: room - 5 - end, tail: end) + brackets
    }

    /// Joins words, quoted as for a shell.
    private static func joined(_ words: [[UInt8]]) -> [UInt8] {
        var line: [UInt8] = []
        for (index, word) in words.enumerated() {
            if index > 0 { line.append(UInt8(ascii: " ")) }
            line += quoted(word)
        }
        return line
    }

    private static func words(_ text: [UInt8]) -> [[UInt8]] {
        // Nothing could be read, or the command line is empty.
        guard !text.isEmpty else { return [] }
        var words = text.parts(between: 0)
        if text.last == 0 { words.removeLast() }
        return words
    }

    private static func cut(
        _ line: [UInt8], last: [UInt8], head: Int, tail: Int
    ) -> [UInt8] {
        line.beginning(of: head) + StaticString(" … ").bytes + last.end(of: tail)
    }

    /// Quotes a word as for a shell, after its middle was cut out if it is long.
    private static func quoted(_ whole: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "'")
        let isLong = whole.count > word.head + word.tail + 3
        let shown =
            isLong
            ? whole.beginning(of: word.head) + StaticString("…").bytes + whole.end(of: word.tail)
            : whole
        var isPlain = !shown.isEmpty
        for byte in shown where !isPlainByte(byte) { isPlain = false }
        if isPlain { return shown }
        var text = [quote]
        for byte in shown {
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
    /// The first bytes, at most `length`, without an incomplete character at the end.
    fileprivate func beginning(of length: Int) -> [UInt8] {
        guard count > length else { return self }
        var end = length
        while end > 0, self[end].continues { end -= 1 }
        return [UInt8](self[..<end])
    }

    /// The last bytes, at most `length`, without an incomplete character at the beginning.
    fileprivate func end(of length: Int) -> [UInt8] {
        guard count > length else { return self }
        var start = count - length
        while start < count, self[start].continues { start += 1 }
        return [UInt8](self[start...])
    }
}

extension UInt8 {
    /// Whether it is a continuation byte of UTF-8.
    fileprivate var continues: Bool { self & 0xC0 == 0x80 }
}
