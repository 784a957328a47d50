// SPDX-License-Identifier: Apache-2.0
/// A signed text of lines with exactly one encoding: a reader accepts only what a writer writes.
///
/// The first line is the kind's name with version 1, so a text of one kind is never accepted as
/// another. `init(parsing:)` throws a `LineFault` for a text that deviates in any byte.
package protocol CanonicalText: Equatable, Sendable {
    /// The name of the first line.
    static var kind: StaticString { get }
    /// The longest accepted text in bytes.
    static var maximumLength: Int { get }
    /// Writes every line after the first.
    func write(to lines: inout LineWriter)
    /// Reads every line after the first.
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

    /// Parses exactly what `encoded()` writes; throws a `LineFault` for anything else.
    package init(parsing text: [UInt8]) throws(LineFault) {
        guard text.count <= Self.maximumLength else { throw .tooLong }
        var lines = LineReader(text)
        guard try lines.number(Self.kind) == 1 else { throw .malformed }
        try self.init(reading: &lines)
        try lines.end()
    }
}

/// A value that is one of a few words.
package protocol LineWord: CaseIterable, Equatable, Sendable {
    /// The word in the line.
    var word: StaticString { get }
}

extension LineWriter {
    /// Appends a line whose value is a word.
    package mutating func put<Word: LineWord>(_ name: StaticString, word: Word) {
        put(name, word.word.bytes)
    }

    /// Appends a line whose value is a moment.
    package mutating func put(_ name: StaticString, instant: Instant) {
        put(name, instant.text)
    }
}

extension LineReader {
    /// The word in the next line; throws `.malformed` unless it is one of the type's.
    package mutating func word<Word: LineWord>(_ name: StaticString) throws(LineFault) -> Word {
        let written = try value(name, cap: 32)
        for word in Word.allCases where word.word.isSpelled(by: written[...]) { return word }
        throw .malformed
    }

    /// The moment in the next line.
    package mutating func instant(_ name: StaticString) throws(LineFault) -> Instant {
        guard let instant = Instant(text: try value(name, cap: 20)) else { throw .malformed }
        return instant
    }

    /// The value of the next line, 1 to `cap` bytes, for each of which `allowed` must return true.
    package mutating func value(
        _ name: StaticString, cap: Int, allowed: (UInt8) -> Bool
    ) throws(LineFault) -> [UInt8] {
        let value = try value(name, cap: cap)
        guard !value.isEmpty else { throw .malformed }
        for byte in value where !allowed(byte) { throw .malformed }
        return value
    }

    /// The line `method`, an HTTP method: 1 to 16 upper-case letters, digits and hyphens.
    package mutating func method() throws(LineFault) -> [UInt8] {
        try value("method", cap: 16, allowed: RequestLines.isMethodByte)
    }
}
