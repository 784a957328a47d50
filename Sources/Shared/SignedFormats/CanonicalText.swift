// SPDX-License-Identifier: Apache-2.0
/// A signed text of lines that has exactly one encoding: a reader accepts only what a writer
/// writes.
///
/// The first line is `KIND: 1`, the name of the kind with its version, so that a text of one kind
/// is never accepted as another. Equal contents give equal bytes, so a signature covers the meaning
/// and not one of several spellings. `init(parsing:)` throws a `LineFault` for a text that deviates
/// in any byte; it checks form and sizes, never a signature.
package protocol CanonicalText: Equatable, Sendable {
    /// The name in the first line, which is unique to the kind.
    static var kind: StaticString { get }
    /// The maximum length of an accepted text in bytes.
    static var maximumLength: Int { get }
    /// Writes every line after the first, in the fixed order.
    func write(to lines: inout LineWriter)
    /// Reads every line after the first, and checks the size of each value.
    init(reading lines: inout LineReader) throws(LineFault)
}

extension CanonicalText {
    /// The canonical text.
    package func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put(Self.kind, number: 1)
        write(to: &lines)
        return lines.text
    }

    /// Parses a text; accepts exactly what `encoded()` writes.
    ///
    /// Throws `.tooLong` for more than `maximumLength` bytes, `.malformed` for a version other than
    /// 1, `.unexpectedName` if the text is of another kind or a line is not the expected one, and
    /// `.trailing` if lines follow the last.
    package init(parsing text: [UInt8]) throws(LineFault) {
        guard text.count <= Self.maximumLength else { throw .tooLong }
        var lines = LineReader(text)
        guard try lines.number(Self.kind) == 1 else { throw .malformed }
        try self.init(reading: &lines)
        try lines.end()
    }
}

/// A value that is written as one word of a fixed set.
package protocol LineWord: CaseIterable, Equatable, Sendable {
    /// The word as it is written in a line.
    var word: StaticString { get }
}

extension LineWriter {
    /// Appends a line with a word as its value.
    package mutating func put<Word: LineWord>(_ name: StaticString, word: Word) {
        put(name, word.word.bytes)
    }

    /// Appends a line with a moment as its value, in the format of `Instant.text`.
    package mutating func put(_ name: StaticString, instant: Instant) {
        put(name, instant.text)
    }
}

extension LineReader {
    /// Reads the word in the next line; throws `.malformed` unless it is one of the type's words.
    package mutating func word<Word: LineWord>(_ name: StaticString) throws(LineFault) -> Word {
        let written = try value(name, cap: 32)
        for word in Word.allCases where word.word.isSpelled(by: written[...]) { return word }
        throw .malformed
    }

    /// Reads the moment in the next line; throws `.malformed` unless it is in the format of
    /// `Instant`.
    package mutating func instant(_ name: StaticString) throws(LineFault) -> Instant {
        guard let instant = Instant(text: try value(name, cap: 20)) else { throw .malformed }
        return instant
    }

    /// Reads the value of the next line, which must have 1 to `cap` bytes that all satisfy
    /// `allowed`.
    package mutating func value(
        _ name: StaticString, cap: Int, allowed: (UInt8) -> Bool
    ) throws(LineFault) -> [UInt8] {
        let value = try value(name, cap: cap)
        guard !value.isEmpty else { throw .malformed }
        for byte in value where !allowed(byte) { throw .malformed }
        return value
    }

    /// Reads the line `method`, an HTTP method: 1 to 16 upper-case letters, digits and hyphens.
    package mutating func method() throws(LineFault) -> [UInt8] {
        try value("method", cap: 16, allowed: RequestLines.isMethodByte)
    }
}
