// SPDX-License-Identifier: Apache-2.0
/// What tells a print from all others, whoever has it: the reader's storage or a template.
///
/// It is what `fp_print_equal` compares, and nothing that a driver only reads out of that.
package struct PrintIdentity: Hashable, Sendable {
    /// The one encoding of this identity, ready for a digest.
    package let bytes: [UInt8]

    /// `kind` is libfprint's `FpiPrintType`; `data` is a GVariant of `type` in normal form.
    package init(kind: Int32, driver: String, deviceID: String, type: String, data: [UInt8]) {
        var fields = PrintFields()
        fields.append(UInt64(UInt32(bitPattern: kind)))
        fields.append(Array(driver.utf8))
        fields.append(Array(deviceID.utf8))
        fields.append(Array(type.utf8))
        fields.append(data)
        bytes = fields.bytes
    }

    /// Takes over an encoding as it was made once.
    package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// Bytes of several fields in which no two lists of fields look alike: each after its length.
package struct PrintFields {
    /// The fields so far.
    package private(set) var bytes: [UInt8] = []

    /// No field.
    package init() {}

    /// Adds a field: its length as 8 bytes, big-endian, then itself.
    package mutating func append(_ field: [UInt8]) {
        append(UInt64(field.count))
        bytes += field
    }

    /// Adds a field that may be missing, which is not the same as empty.
    package mutating func append(_ field: [UInt8]?) {
        append(UInt64(field == nil ? 0 : 1))
        if let field { append(field) }
    }

    /// Adds a number as 8 bytes, big-endian.
    package mutating func append(_ number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
