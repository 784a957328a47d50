#if !hasFeature(Embedded)
import Statement
#endif

/// How a program was called, in the form in which a person confirms it.
///
/// Words stand as a shell would want them, so that no word can pass for several or for none. What
/// is too long loses its middle: what runs stands at the beginning, and the end is seen too.
package struct ProgramCall: Equatable, Sendable {
    /// The longest purpose in bytes.
    package static let longestPurpose = 1_024
    /// How much of a command line's beginning is wanted.
    package static let longestBeginning = 16_384
    /// How much of its end, where it is longer.
    package static let longestEnd = 1_024

    /// What stands before and behind the ellipsis, of a line and of one word.
    private static let line = (head: 700, tail: 319)
    private static let word = (head: 160, tail: 80)

    /// The words at the beginning; the first is the caller's to choose.
    let words: [[UInt8]]
    private let end: [UInt8]?

    /// From the contents of /proc/PID/cmdline: words, each ended by NUL; `end` is the last of it
    /// where that is not all in `beginning`.
    package init(beginning: [UInt8], end: [UInt8]? = nil) {
        words = ProgramCall.words(beginning)
        self.end = end
    }

    /// The command line, with a program's name in the place of the first word.
    package func purpose(of program: StaticString) -> [UInt8] {
        var line = program.bytes
        for word in words.dropFirst() { line += [UInt8(ascii: " ")] + ProgramCall.quoted(word) }
        guard let end else {
            guard line.count > ProgramCall.longestPurpose else { return line }
            return ProgramCall.cut(line, line)
        }
        var last: [UInt8] = []
        for word in ProgramCall.words(end) {
            if !last.isEmpty { last.append(UInt8(ascii: " ")) }
            last += ProgramCall.quoted(word)
        }
        return ProgramCall.cut(line, last)
    }

    private static func words(_ text: [UInt8]) -> [[UInt8]] {
        var words = text.parts(between: 0)
        if text.last == 0 { words.removeLast() }
        return words
    }

    private static func cut(_ head: [UInt8], _ tail: [UInt8]) -> [UInt8] {
        head.beginning(of: line.head) + StaticString(" … ").bytes + tail.end(of: line.tail)
    }

    /// A word as a shell would want it, without its middle if it is long.
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

    /// Whether a byte means itself to every shell.
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
    /// The first bytes, at most so many, without half a character at the end.
    fileprivate func beginning(of length: Int) -> [UInt8] {
        guard count > length else { return self }
        var kept = prefix(length)
        guard self[kept.endIndex].continues else { return [UInt8](kept) }
        while let last = kept.last, last.continues { kept.removeLast() }
        return [UInt8](kept.dropLast())
    }

    /// The last bytes, at most so many, without half a character at the beginning.
    fileprivate func end(of length: Int) -> [UInt8] {
        guard count > length else { return self }
        return [UInt8](suffix(length).drop { $0.continues })
    }
}

extension UInt8 {
    /// Whether it continues a character of UTF-8.
    fileprivate var continues: Bool { self & 0xC0 == 0x80 }
}
