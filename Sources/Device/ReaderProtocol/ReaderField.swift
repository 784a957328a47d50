// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// The fields of the frames between signetd and the reader process; the raw value is the tag.
///
/// The encoding is that of all frames (`Frame`): fields are in the order of their tags, and the
/// size of each value is within `size`.
enum ReaderField: UInt8, CaseIterable {
    case reader = 1
    case readers = 2
    case limit = 3
    case count = 4
    case flag = 5
    case finger = 6
    case account = 7
    case part = 8
    case isLast = 9
    case name = 10
    case driver = 11
    case deviceID = 12
    case serial = 13
    case seat = 14
    case scan = 15
    case stages = 16
    case features = 17
    case matchesOnHost = 18
    case temperature = 19
    case event = 20
    case first = 21
    case second = 22
    case identity = 23
    case record = 24
    case index = 25
    case lost = 26
    case fault = 27
    case message = 28

    /// The maximum number of bytes of a template in one frame; a longer template is split.
    static let partCap = 16_000
    /// The maximum number of bytes of a stored print's record, and of its identity.
    private static let (recordCap, identityCap) = (8_000, 7_000)

    /// The sizes in bytes that a value of this field may have; checked by writers and readers.
    var size: ClosedRange<Int> {
        switch self {
        case .reader: 1...ReaderLimit.id
        case .readers: 0...(ReaderLimit.readers * (ReaderLimit.id + 2))
        case .limit, .count, .stages, .features, .first, .second, .index: 4...4
        case .flag, .finger, .isLast, .scan, .matchesOnHost, .temperature, .event, .fault: 1...1
        case .account: 0...ReaderLimit.text
        case .part: 0...Self.partCap
        case .name, .message, .serial, .seat: 0...ReaderLimit.text
        case .driver, .deviceID: 0...ReaderLimit.id
        case .identity: 0...Self.identityCap
        case .record: 0...Self.recordCap
        case .lost: 0...4_096
        }
    }
}

/// The limits of what signetd and the reader process accept from each other.
package enum ReaderLimit {
    /// Bytes in a frame.
    package static let frame = Frame.maximumLength
    /// Bytes in a reader's id, in the name of its driver, and in its device id.
    package static let id = 255
    /// Bytes in a text.
    package static let text = 512
    /// Readers on a machine.
    package static let readers = 32
    /// Prints in one reader's storage.
    package static let prints = 1_024
    /// Templates in one match, and bytes in all of its templates together.
    package static let (templates, templateBytes) = (4_096, 64 << 20)
}

extension FrameWriter {
    mutating func put(_ field: ReaderField, bytes value: [UInt8]) throws(WireFault) {
        try put(tag: field.rawValue, size: field.size, value.span)
    }

    mutating func put(_ field: ReaderField, text: String) throws(WireFault) {
        try put(field, bytes: Array(text.utf8))
    }

    mutating func put(_ field: ReaderField, byte: UInt8) throws(WireFault) {
        try put(field, bytes: [byte])
    }

    mutating func put(_ field: ReaderField, flag: Bool) throws(WireFault) {
        try put(field, byte: flag ? 1 : 0)
    }

    mutating func put(_ field: ReaderField, number: Int) throws(WireFault) {
        guard let number = UInt32(exactly: number) else { throw .malformedValue }
        let shifts: [UInt32] = [24, 16, 8, 0]
        try put(field, bytes: shifts.map { UInt8(truncatingIfNeeded: number >> $0) })
    }

    /// Writes entries of at most 255 bytes, each preceded by its length as one byte.
    mutating func put(_ field: ReaderField, list: [[UInt8]]) throws(WireFault) {
        var bytes: [UInt8] = []
        for entry in list {
            guard let count = UInt8(exactly: entry.count) else { throw .tooLong }
            bytes.append(count)
            bytes += entry
        }
        try put(field, bytes: bytes)
    }
}

extension FrameReader {
    mutating func optional(_ field: ReaderField) throws(WireFault) -> [UInt8]? {
        try bytesIfPresent(tag: field.rawValue, size: field.size)
    }

    mutating func bytes(of field: ReaderField) throws(WireFault) -> [UInt8] {
        guard let value = try optional(field) else { throw .unexpectedField }
        return value
    }

    mutating func text(of field: ReaderField) throws(WireFault) -> String {
        guard let text = String(validating: try bytes(of: field), as: UTF8.self) else {
            throw .malformedValue
        }
        return text
    }

    mutating func optionalText(of field: ReaderField) throws(WireFault) -> String? {
        guard let value = try optional(field) else { return nil }
        guard let text = String(validating: value, as: UTF8.self) else { throw .malformedValue }
        return text
    }

    mutating func byte(of field: ReaderField) throws(WireFault) -> UInt8 {
        try bytes(of: field)[0]
    }

    mutating func flag(of field: ReaderField) throws(WireFault) -> Bool {
        switch try byte(of: field) {
        case 0: false
        case 1: true
        default: throw .malformedValue
        }
    }

    mutating func number(of field: ReaderField) throws(WireFault) -> Int {
        try bytes(of: field).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads an enumeration's case by its raw value; throws `.malformedValue` for an unknown one.
    mutating func value<Value: RawRepresentable<UInt8>>(
        of field: ReaderField, as type: Value.Type = Value.self
    ) throws(WireFault) -> Value {
        guard let value = Value(rawValue: try byte(of: field)) else { throw .malformedValue }
        return value
    }

    mutating func list(of field: ReaderField) throws(WireFault) -> [[UInt8]] {
        var rest = try bytes(of: field)[...]
        var list: [[UInt8]] = []
        while let count = rest.popFirst().map(Int.init) {
            guard rest.count >= count else { throw .truncated }
            list.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return list
    }
}
