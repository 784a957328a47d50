/// Why bytes in one of OpenSSH's forms were refused.
package enum SSHFault: Error, Equatable {
    case truncated
    case tooLong
    case malformed
    /// Well formed, but not of the one algorithm, hash or version that is accepted.
    case unsupported
    case trailing
}

/// Writes the data types of RFC 4251, section 5.
struct SSHWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(raw: [UInt8]) {
        bytes.append(contentsOf: raw)
    }

    mutating func put(number: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func put(_ string: [UInt8]) {
        put(number: UInt32(truncatingIfNeeded: string.count))
        put(raw: string)
    }

    /// An `mpint` of an unsigned big-endian number.
    mutating func put(unsigned number: [UInt8]) {
        var digits = [UInt8](number.drop { $0 == 0 })
        if let first = digits.first, first >= 0x80 { digits.insert(0, at: 0) }
        put(digits)
    }
}

/// Reads the data types of RFC 4251, section 5; each length is checked before a copy.
struct SSHReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func raw(_ count: Int) throws(SSHFault) -> [UInt8] {
        guard count >= 0, bytes.count - position >= count else { throw .truncated }
        defer { position += count }
        return [UInt8](bytes[position..<position + count])
    }

    mutating func number() throws(SSHFault) -> UInt32 {
        var number: UInt32 = 0
        for byte in try raw(4) { number = number << 8 | UInt32(byte) }
        return number
    }

    mutating func string(cap: Int) throws(SSHFault) -> [UInt8] {
        let length = Int(try number())
        guard length <= cap else { throw .tooLong }
        return try raw(length)
    }

    /// A positive `mpint` in its shortest form, as `count` big-endian bytes.
    mutating func unsigned(count: Int) throws(SSHFault) -> [UInt8] {
        var digits = try string(cap: count + 1)
        guard let first = digits.first, first < 0x80 else { throw .malformed }
        if first == 0 {
            guard digits.count > 1, digits[1] >= 0x80 else { throw .malformed }
            digits.removeFirst()
        }
        guard digits.count <= count else { throw .tooLong }
        return [UInt8](repeating: 0, count: count - digits.count) + digits
    }

    func end() throws(SSHFault) {
        guard position == bytes.count else { throw .trailing }
    }
}
