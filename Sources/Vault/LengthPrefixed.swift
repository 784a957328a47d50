// SPDX-License-Identifier: Apache-2.0
/// Bytes of several fields in which no two lists of fields look alike: each after its length.
struct LengthPrefixed {
    private(set) var bytes: [UInt8] = []

    /// Starts with a label that says what the fields are for.
    init(label: StaticString) {
        append(Array(label.description.utf8))
    }

    /// Adds a field: its length as 8 bytes, big-endian, then itself.
    mutating func append(_ field: [UInt8]) {
        append(UInt64(field.count))
        bytes += field
    }

    /// Adds a number as 8 bytes, big-endian.
    mutating func append(_ number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
