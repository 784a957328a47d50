// SPDX-License-Identifier: Apache-2.0
/// Why bytes in a format of OpenSSH's were rejected.
package enum SSHFault: Error, Equatable {
    case truncated
    case tooLong
    case malformed
    /// Well-formed, but not the only algorithm, hash or version that is accepted.
    case unsupported
    case trailing
}

/// Encodes the data types of RFC 4251, section 5.
struct SSHWriter {
    private(set) var bytes: [UInt8] = []

    /// Nearly every value fits into the reserved capacity.
    init() { bytes.reserveCapacity(256) }

    mutating func put(raw: [UInt8]) {
        bytes.append(contentsOf: raw)
    }

    mutating func put(number: UInt32) {
        var shift: UInt32 = 32
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func put(_ string: [UInt8]) {
        put(number: UInt32(truncatingIfNeeded: string.count))
        put(raw: string)
    }

    /// Writes an unsigned big-endian number as an `mpint`.
    mutating func put(unsigned number: [UInt8]) {
        var digits = [UInt8](number.drop { $0 == 0 })
        if let first = digits.first, first >= 0x80 { digits.insert(0, at: 0) }
        put(digits)
    }
}

/// Decodes the data types of RFC 4251, section 5; checks each length before copying.
struct SSHReader {
    private let bytes: [UInt8]
    private var position: Int
    private let limit: Int

    init(_ bytes: [UInt8]) {
        self.init(bytes, range: 0..<bytes.count)
    }

    private init(_ bytes: [UInt8], range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        limit = range.upperBound
    }

    mutating func number() throws(SSHFault) -> UInt32 {
        var number: UInt32 = 0
        for place in try skip(4) { number = number << 8 | UInt32(bytes[place]) }
        return number
    }

    mutating func string(cap: Int) throws(SSHFault) -> [UInt8] {
        [UInt8](bytes[try range(cap: cap)])
    }

    /// Consumes the next string and returns whether it is this one.
    mutating func isNext(_ string: StaticString, cap: Int) throws(SSHFault) -> Bool {
        string.isSpelled(by: bytes[try range(cap: cap)])
    }

    /// Consumes as many bytes as the text has and returns whether they are equal.
    mutating func isNext(raw text: StaticString) throws(SSHFault) -> Bool {
        text.isSpelled(by: bytes[try skip(text.utf8CodeUnitCount)])
    }

    /// Returns a reader for the contents of the next string.
    mutating func inside(cap: Int) throws(SSHFault) -> SSHReader {
        SSHReader(bytes, range: try range(cap: cap))
    }

    /// Reads a positive `mpint` in its shortest form, as `count` big-endian bytes.
    mutating func unsigned(count: Int) throws(SSHFault) -> [UInt8] {
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

    func end() throws(SSHFault) {
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
