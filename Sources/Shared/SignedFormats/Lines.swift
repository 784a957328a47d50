// SPDX-License-Identifier: Apache-2.0
import Domain

/// Why a text of lines was rejected.
package enum LineFault: Error, Equatable {
    /// The text ends before the next required line.
    case truncated
    /// The next line has a name other than the required one.
    case unexpectedName
    /// The text or a value exceeds its limit.
    case tooLong
    /// A value is not in its canonical form.
    case malformed
    /// There is more text after the last line.
    case trailing
}

/// Writes canonical text: one `name: value` per line, each ended by LF.
///
/// Values are percent-encoded: `%`, bytes that are not well-formed UTF-8, and characters that could
/// make a line look different from what it says (see `Printable`) are written as `%XX`. A value can
/// therefore never start a new line or imitate another one. Names are constants of the program and
/// are written unchanged.
package struct LineWriter {
    /// The text so far.
    package private(set) var text: [UInt8] = []

    /// Creates an empty text.
    package init() {}

    /// Appends a line with any bytes as its value.
    package mutating func put(_ name: StaticString, _ value: [UInt8]) {
        text.append(contentsOf: name.bytes)
        text.append(UInt8(ascii: ":"))
        text.append(UInt8(ascii: " "))
        text.append(contentsOf: PercentEncoding.encode(value))
        text.append(UInt8(ascii: "\n"))
    }

    /// Appends a line with an id in hexadecimal.
    package mutating func put(_ name: StaticString, id: some FixedBytes) {
        put(name, id.hexadecimal)
    }

    /// Appends a line with a name.
    package mutating func put(_ line: StaticString, name: EntityName<some Any>) {
        put(line, name.bytes)
    }

    /// Appends a line with a challenge in base64url.
    package mutating func put(_ name: StaticString, challenge: Challenge) {
        put(name, Base64.encode(challenge.bytes, alphabet: .url))
    }

    /// Appends a line with a decimal number as its value.
    package mutating func put(_ name: StaticString, number: UInt64) {
        put(name, Decimal.encode(number))
    }
}

/// Reads canonical text line by line; the caller names each line that must come next.
///
/// Only the encoding that `LineWriter` produces is accepted, so equal contents mean equal bytes.
/// Lines cannot be omitted, repeated or reordered unless the caller asks for that with `isNext`.
/// The caller must limit the text's length before, and must call `end()` after the last line;
/// otherwise trailing text would go unnoticed.
package struct LineReader {
    private let text: [UInt8]
    private var position = 0

    /// Starts at the beginning of a text, whose length the caller must have limited.
    package init(_ text: [UInt8]) {
        self.text = text
    }

    /// Reads the next line, which must have this name, and returns its decoded value.
    ///
    /// Throws `.truncated` if the text ends before the line does, `.unexpectedName` for a line with
    /// another name, `.tooLong` for a value of more than `cap` decoded bytes, and `.malformed` for
    /// an encoding that `LineWriter` would not produce.
    package mutating func value(_ name: StaticString, cap: Int) throws(LineFault) -> [UInt8] {
        let valueStart = try startOfValue(name)
        position = valueStart
        while position < text.count, text[position] != UInt8(ascii: "\n") { position += 1 }
        guard position < text.count else { throw .truncated }
        guard position - valueStart <= cap * 3 else { throw .tooLong }
        let written = [UInt8](text[valueStart..<position])
        position += 1
        guard let value = PercentEncoding.decode(written) else { throw .malformed }
        guard value.count <= cap else { throw .tooLong }
        return value
    }

    /// Reads the name in the next line, like `value(_:cap:)`.
    package mutating func name<Subject>(
        _ line: StaticString, cap: Int
    ) throws(LineFault) -> EntityName<Subject> {
        EntityName(try value(line, cap: cap))
    }

    /// Reads the decimal number in the next line, which must have this name.
    package mutating func number(_ name: StaticString) throws(LineFault) -> UInt64 {
        guard let number = Decimal.decode(try value(name, cap: 20)) else { throw .malformed }
        return number
    }

    /// Whether the next line has this name; does not consume it.
    package func isNext(_ name: StaticString) -> Bool {
        (try? startOfValue(name)) != nil
    }

    /// Returns the position of the next line's value; throws `.unexpectedName` for another line.
    private func startOfValue(_ name: StaticString) throws(LineFault) -> Int {
        var place = position
        // Names are compared in place, without a copy, because this runs for every line of every
        // text.
        let count = name.utf8CodeUnitCount
        for offset in 0..<count + 2 {
            guard place < text.count else { throw .truncated }
            let byte =
                offset < count
                ? unsafe name.utf8Start[offset]
                : offset == count ? UInt8(ascii: ":") : UInt8(ascii: " ")
            guard text[place] == byte else { throw .unexpectedName }
            place += 1
        }
        return place
    }

    /// The unread rest, for formats in which something other than lines follows.
    package var rest: ArraySlice<UInt8> { text[position...] }

    /// Succeeds if the whole text was read; otherwise throws `.trailing`.
    package func end() throws(LineFault) {
        guard position == text.count else { throw .trailing }
    }
}

/// Percent-encoding of values, in upper-case hexadecimal as in RFC 3986.
///
/// Unlike in a URL, spaces and most other characters are written as they are; only `%` and the
/// bytes of characters that `Printable` rejects are escaped. Each value has exactly one encoding.
package enum PercentEncoding {
    /// Returns the only accepted encoding of these bytes.
    package static func encode(_ value: [UInt8]) -> [UInt8] {
        Printable.escaping(value, and: UInt8(ascii: "%")) { byte, text in
            text.append(UInt8(ascii: "%"))
            text.append(Hexadecimal.digit(byte >> 4, upperCase: true))
            text.append(Hexadecimal.digit(byte & 15, upperCase: true))
        }
    }

    /// Decodes a text; nil unless it is exactly what `encode` returns for the result.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        // Most values need no decoding.
        if text.allSatisfy({ (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "%") }) {
            return text
        }
        var value: [UInt8] = []
        value.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "%") else {
                value.append(text[index])
                index += 1
                continue
            }
            guard text.count - index >= 3, let high = upperValue(text[index + 1]),
                let low = upperValue(text[index + 2])
            else { return nil }
            value.append(high << 4 | low)
            index += 3
        }
        return encode(value) == text ? value : nil
    }

    private static func upperValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        default: nil
        }
    }
}

/// Decimal numbers of 64 bits, without sign, spaces or leading zeros.
package enum Decimal {
    /// Returns the digits of a number.
    package static func encode(_ number: UInt64) -> [UInt8] {
        if number == 0 { return [UInt8(ascii: "0")] }
        var digits: [UInt8] = []
        var rest = number
        while rest > 0 {
            digits.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        }
        digits.reverse()
        return digits
    }

    /// Returns the number; nil if the text is empty, contains another character, has a leading
    /// zero, or exceeds 64 bits.
    package static func decode(_ text: [UInt8]) -> UInt64? {
        guard !text.isEmpty, text.count == 1 || text[0] != UInt8(ascii: "0") else { return nil }
        var number: UInt64 = 0
        for character in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
            let (tens, tooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = tens.addingReportingOverflow(
                UInt64(character - UInt8(ascii: "0")))
            guard !tooLarge, !overflow else { return nil }
            number = sum
        }
        return number
    }
}

extension StaticString {
    /// The UTF-8 bytes.
    package var bytes: [UInt8] {
        @inline(never) get {
            unsafe [UInt8](UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount))
        }
    }

    /// Whether its UTF-8 bytes equal `bytes`; compares without a copy.
    @inline(never)
    package func isSpelled(by bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count == utf8CodeUnitCount else { return false }
        var place = 0
        for byte in bytes {
            guard unsafe utf8Start[place] == byte else { return false }
            place += 1
        }
        return true
    }
}
