// SPDX-License-Identifier: Apache-2.0
/// An unambiguous encoding of a list of byte strings, each preceded by its length.
///
/// Two different lists have different encodings, and each purpose has its own label. A digest or a
/// key derived from one list therefore cannot be mistaken for that of another list or purpose.
struct LengthPrefixed {
    private(set) var bytes: [UInt8] = []

    /// Starts with a label for the purpose of the encoding.
    init(label: StaticString) {
        append(Array(label.description.utf8))
    }

    /// Appends the length of a field as 8 bytes, big-endian, and the field.
    mutating func append(_ field: [UInt8]) {
        append(UInt64(field.count))
        bytes += field
    }

    /// Appends a number as 8 bytes, big-endian, without a length.
    mutating func append(_ number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
