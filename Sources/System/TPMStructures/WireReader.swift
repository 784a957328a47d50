// SPDX-License-Identifier: Apache-2.0
/// Reads a TPM's big-endian structures; every length is checked before bytes are copied.
///
/// All functions return nil if too few bytes are left, without saying why. The caller must check
/// `isAtEnd` after the last field.
package struct WireReader {
    private var rest: ArraySlice<UInt8>

    /// Starts at the first byte.
    package init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// Whether all bytes were read.
    package var isAtEnd: Bool { rest.isEmpty }

    /// Returns the next `count` bytes; nil if there are fewer.
    package mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Returns the next two bytes as a number; nil if there are fewer.
    package mutating func uint16() -> UInt16? {
        bytes(2).map { UInt16($0[0]) << 8 | UInt16($0[1]) }
    }

    /// Returns the next four bytes as a number; nil if there are fewer.
    package mutating func uint32() -> UInt32? {
        guard let high = uint16(), let low = uint16() else { return nil }
        return UInt32(high) << 16 | UInt32(low)
    }

    /// Returns the next eight bytes as a number; nil if there are fewer.
    package mutating func uint64() -> UInt64? {
        guard let high = uint32(), let low = uint32() else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }

    /// Returns the bytes of a TPM2B, after their two-byte length; nil if there are more than
    /// `limit`.
    package mutating func sized(limit: Int) -> [UInt8]? {
        guard let count = uint16(), count <= limit else { return nil }
        return bytes(Int(count))
    }
}

/// Returns a number in the TPM's byte order.
package func bigEndian(_ number: UInt16) -> [UInt8] {
    [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
}

/// Returns a number in the TPM's byte order.
package func bigEndian(_ number: UInt32) -> [UInt8] {
    bigEndian(UInt16(number >> 16)) + bigEndian(UInt16(truncatingIfNeeded: number))
}

/// Returns bytes as a TPM2B, preceded by their two-byte length; nil if there are more than 65535.
package func sized(_ bytes: [UInt8]) -> [UInt8]? {
    UInt16(exactly: bytes.count).map { bigEndian($0) + bytes }
}
