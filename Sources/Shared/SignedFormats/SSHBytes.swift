// SPDX-License-Identifier: Apache-2.0
/// The reason why bytes in one of OpenSSH's formats were rejected.
package enum SSHFault: Error, Equatable {
    case truncated
    case tooLong
    case malformed
    /// Well-formed, but with an algorithm, hash or version other than the only accepted one.
    case unsupported
    case trailing
}

/// Encodes the data types of RFC 4251, section 5: `uint32`, `string` and `mpint`.
///
/// Callers pass only short values; no length is checked against the 32 bits of the format.
package struct SSHWriter {
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty writer whose reserved capacity suffices for nearly every value.
    package init() { bytes.reserveCapacity(256) }

    package mutating func put(raw: [UInt8]) {
        bytes.append(contentsOf: raw)
    }

    package mutating func put(number: UInt32) {
        var shift: UInt32 = 32
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    package mutating func put(_ string: [UInt8]) {
        put(number: UInt32(truncatingIfNeeded: string.count))
        put(raw: string)
    }

    /// Writes an unsigned big-endian number as an `mpint` in its shortest form.
    package mutating func put(unsigned number: [UInt8]) {
        var digits = [UInt8](number.drop { $0 == 0 })
        if let first = digits.first, first >= 0x80 { digits.insert(0, at: 0) }
        put(digits)
    }
}

/// Decodes the data types of RFC 4251, section 5, from bytes that are not trusted.
///
/// Each length is compared with a limit of the caller's and with the remaining bytes before
/// anything is copied. `.tooLong` is thrown for a string above its limit, `.truncated` if fewer
/// bytes are left than announced, and `.trailing` by `end()` if bytes are left over.
package struct SSHReader {
    private let bytes: [UInt8]
    private var position: Int
    private let limit: Int

    package init(_ bytes: [UInt8]) {
        self.init(bytes, range: 0..<bytes.count)
    }

    private init(_ bytes: [UInt8], range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        limit = range.upperBound
    }

    package mutating func number() throws(SSHFault) -> UInt32 {
        var number: UInt32 = 0
        for place in try skip(4) { number = number << 8 | UInt32(bytes[place]) }
        return number
    }

    package mutating func byte() throws(SSHFault) -> UInt8 {
        bytes[try skip(1).lowerBound]
    }

    /// Consumes bytes that have no length before them.
    package mutating func skipped(_ count: Int) throws(SSHFault) {
        _ = try skip(count)
    }

    package mutating func string(cap: Int) throws(SSHFault) -> [UInt8] {
        [UInt8](bytes[try range(cap: cap)])
    }

    /// Consumes the next string and returns whether it equals the given one.
    package mutating func isNext(_ string: StaticString, cap: Int) throws(SSHFault) -> Bool {
        string.isSpelled(by: bytes[try range(cap: cap)])
    }

    /// Consumes as many bytes as the text has, without a length before them, and returns whether
    /// they equal the text.
    package mutating func isNext(raw text: StaticString) throws(SSHFault) -> Bool {
        text.isSpelled(by: bytes[try skip(text.utf8CodeUnitCount)])
    }

    /// Returns a reader for the contents of the next string.
    package mutating func inside(cap: Int) throws(SSHFault) -> SSHReader {
        SSHReader(bytes, range: try range(cap: cap))
    }

    /// Reads a positive `mpint` and returns it as exactly `count` big-endian bytes.
    ///
    /// Throws `.malformed` for zero, a negative number, or one that is not in its shortest form,
    /// and `.tooLong` for a number of more than `count` bytes.
    package mutating func unsigned(count: Int) throws(SSHFault) -> [UInt8] {
        var digits = bytes[try range(cap: count + 1)]
        guard let first = digits.first, first < 0x80 else { throw .malformed }
        if first == 0 {
            digits = digits.dropFirst()
            guard let second = digits.first, second >= 0x80 else { throw .malformed }
        }
        guard digits.count <= count else { throw .tooLong }
        var number = [UInt8](repeating: 0, count: count - digits.count)
        number.append(contentsOf: digits)
        return number
    }

    package func end() throws(SSHFault) {
        guard position == limit else { throw .trailing }
    }

    /// Consumes the next string and returns its range.
    @inline(never)
    private mutating func range(cap: Int) throws(SSHFault) -> Range<Int> {
        let length = Int(try number())
        guard length <= cap else { throw .tooLong }
        return try skip(length)
    }

    /// Consumes bytes and returns their range.
    private mutating func skip(_ count: Int) throws(SSHFault) -> Range<Int> {
        guard limit - position >= count else { throw .truncated }
        position += count
        return position - count..<position
    }
}
