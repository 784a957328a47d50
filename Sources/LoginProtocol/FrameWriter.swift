// SPDX-License-Identifier: Apache-2.0
/// Builds one frame; refuses a value that the reader on the other side would refuse.
package struct FrameWriter {
    /// The frame so far.
    package private(set) var bytes: Bytes
    private var lastTag: UInt8 = 0

    /// Begins a frame of a kind; a frame that grows beyond `capacity` bytes is moved, which leaves
    /// copies of what was put into it.
    package init(kind: UInt8, capacity: Int = Frame.headerLength) {
        bytes = []
        bytes.reserveCapacity(capacity)
        bytes.append(Frame.version)
        bytes.append(kind)
    }

    /// Appends a field; throws when its size is wrong, it is out of order, or the frame is full.
    package mutating func put(_ field: Field, _ value: Bytes) throws(WireFault) {
        try put(field, value.span)
    }

    /// Appends a field without another copy of its value.
    package mutating func put(_ field: Field, _ value: Span<UInt8>) throws(WireFault) {
        try put(tag: field.rawValue, size: field.size, value)
    }

    /// The same for any grammar's field, by its tag and the sizes in bytes that it may have.
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

    /// Appends a field if there is a value.
    package mutating func put(_ field: Field, ifPresent value: Bytes?) throws(WireFault) {
        if let value { try put(field, value) }
    }

    /// Appends a number in big-endian order, in as many bytes as its type has.
    package mutating func put<Number: FixedWidthInteger & UnsignedInteger>(
        _ field: Field, number: Number
    ) throws(WireFault) {
        var value = Bytes()
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            value.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
        try put(field, value)
    }

    /// Appends a number if there is one.
    package mutating func put<Number: FixedWidthInteger & UnsignedInteger>(
        _ field: Field, numberIfPresent number: Number?
    ) throws(WireFault) {
        if let number { try put(field, number: number) }
    }
}
