// SPDX-License-Identifier: Apache-2.0
import Domain

/// Decodes one frame, field by field, in order.
///
/// Each length is checked before anything is copied. A field that the caller did not ask for
/// (unknown, repeated, out of order or trailing) makes the next call or `end()` throw, so the
/// caller must finish with `end()`.
package struct FrameReader {
    /// The frame's kind: that of a request or of an answer, depending on the direction.
    package let kind: UInt8
    private let bytes: Bytes
    private var position = Frame.headerLength

    /// Checks a packet's header; throws if it is too short, too long or of another version.
    package init(_ packet: Bytes) throws(WireFault) {
        guard packet.count <= Frame.maximumLength else { throw .tooLong }
        guard packet.count >= Frame.headerLength else { throw .truncated }
        guard packet[0] == Frame.version else { throw .version }
        kind = packet[1]
        bytes = packet
    }

    /// The value of the next field; throws `.unexpectedField` unless it is this one.
    package mutating func bytes(_ field: Field) throws(WireFault) -> Bytes {
        guard let value = try bytesIfPresent(field) else { throw .unexpectedField }
        return value
    }

    /// The value of the next field, which must be this one and have the size of its type.
    package mutating func fixed<Value: FixedBytes>(_ field: Field) throws(WireFault) -> Value {
        guard let value = Value(try bytes(field)) else { throw .malformedValue }
        return value
    }

    /// The name in the next field; throws `.unexpectedField` unless it is this one.
    package mutating func name<Subject>(_ field: Field) throws(WireFault) -> EntityName<Subject> {
        EntityName(try bytes(field))
    }

    /// The name in the next field if it is this one; otherwise nil, and nothing is consumed.
    package mutating func nameIfPresent<Subject>(
        _ field: Field
    ) throws(WireFault) -> EntityName<Subject>? {
        guard let name = try bytesIfPresent(field) else { return nil }
        return EntityName(name)
    }

    /// The value of the next field if it is this one; otherwise nil, and nothing is consumed.
    package mutating func bytesIfPresent(_ field: Field) throws(WireFault) -> Bytes? {
        try bytesIfPresent(tag: field.rawValue, size: field.size)
    }

    /// Like `bytesIfPresent(_:)` for a field of any protocol, by its tag and allowed sizes in
    /// bytes.
    @inline(__always)
    package mutating func bytesIfPresent(
        tag: UInt8, size: ClosedRange<Int>
    ) throws(WireFault) -> Bytes? {
        guard position < bytes.count, bytes[position] == tag else { return nil }
        guard bytes.count - position >= Frame.fieldHeaderLength else { throw .truncated }
        let length = Int(bytes[position + 1]) << 8 | Int(bytes[position + 2])
        guard size.contains(length) else { throw .malformedValue }
        let start = position + Frame.fieldHeaderLength
        guard bytes.count - start >= length else { throw .truncated }
        position = start + length
        return Bytes(bytes[start..<position])
    }

    /// The big-endian number in the next field; throws `.unexpectedField` unless it is this one.
    package mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
        _ field: Field, as type: Number.Type = Number.self
    ) throws(WireFault) -> Number {
        guard let number = try numberIfPresent(field, as: type) else { throw .unexpectedField }
        return number
    }

    /// The big-endian number in the next field if it is this one; nil otherwise.
    package mutating func numberIfPresent<Number: FixedWidthInteger & UnsignedInteger>(
        _ field: Field, as type: Number.Type = Number.self
    ) throws(WireFault) -> Number? {
        guard let value = try bytesIfPresent(field) else { return nil }
        guard value.count * 8 == Number.bitWidth else { throw .malformedValue }
        var number: Number = 0
        for byte in value { number = number << 8 | Number(byte) }
        return number
    }

    /// Succeeds if every byte of the frame was read.
    package func end() throws(WireFault) {
        guard position == bytes.count else { throw .unexpectedField }
    }
}
