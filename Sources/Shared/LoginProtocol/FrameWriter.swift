// SPDX-License-Identifier: Apache-2.0
import Domain

/// Encodes one frame, and throws for any value that the reader would reject.
package struct FrameWriter {
    /// The frame so far.
    package private(set) var bytes: Bytes
    private var lastTag: UInt8 = 0

    /// Starts a frame of a kind.
    ///
    /// A frame that grows beyond `capacity` bytes is reallocated, which leaves copies of its
    /// contents in freed memory: reserve the full length for a frame that contains a secret.
    package init(kind: UInt8, capacity: Int = Frame.headerLength) {
        bytes = []
        bytes.reserveCapacity(capacity)
        bytes += [Frame.version, kind]
    }

    /// Appends a field; throws if its size is wrong, it is out of order, or the frame is full.
    package mutating func put(_ field: Field, _ value: Bytes) throws(WireFault) {
        try put(field, value.span)
    }

    /// Appends a field of a fixed size.
    package mutating func put(_ field: Field, _ value: some FixedBytes) throws(WireFault) {
        try put(field, value.bytes)
    }

    /// Appends a field that holds a name.
    package mutating func put(_ field: Field, name: EntityName<some Any>) throws(WireFault) {
        try put(field, name.bytes)
    }

    /// Appends a field without making another copy of its value.
    package mutating func put(_ field: Field, _ value: Span<UInt8>) throws(WireFault) {
        try put(tag: field.rawValue, size: field.size, value)
    }

    /// Like `put(_:_:)` for a field of any protocol, by its tag and allowed sizes in bytes.
    @inline(__always)
    package mutating func put(
        tag: UInt8, size: ClosedRange<Int>, _ value: Span<UInt8>
    ) throws(WireFault) {
        guard tag > lastTag else { throw .unexpectedField }
        guard size.contains(value.count) else { throw .tooLong }
        let end = bytes.count + Frame.fieldHeaderLength + value.count
        guard end <= Frame.maximumLength else { throw .tooLong }
        bytes.reserveCapacity(end)
        bytes.append(tag)
        bytes.append(UInt8(truncatingIfNeeded: value.count >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value.count))
        for index in value.indices { bytes.append(value[index]) }
        lastTag = tag
    }

    /// Appends a field unless the value is nil.
    package mutating func put(_ field: Field, ifPresent value: Bytes?) throws(WireFault) {
        if let value { try put(field, value) }
    }

    /// Appends a field that holds a name, unless it is nil.
    package mutating func put(
        _ field: Field, nameIfPresent name: EntityName<some Any>?
    ) throws(WireFault) {
        if let name { try put(field, name: name) }
    }

    /// Appends a number in big-endian order, in the width of its type.
    package mutating func put<Number: FixedWidthInteger & UnsignedInteger>(
        _ field: Field, number: Number
    ) throws(WireFault) {
        try put(field, number: UInt64(number), count: Number.bitWidth / 8)
    }

    /// Appends the last `count` bytes of a number in big-endian order.
    private mutating func put(
        _ field: Field, number: UInt64, count: Int
    ) throws(WireFault) {
        var value = Bytes(repeating: 0, count: count)
        var rest = number
        for place in value.indices.reversed() {
            value[place] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
        }
        try put(field, value)
    }

    /// Appends a number unless it is nil.
    package mutating func put<Number: FixedWidthInteger & UnsignedInteger>(
        _ field: Field, numberIfPresent number: Number?
    ) throws(WireFault) {
        if let number { try put(field, number: number) }
    }
}
