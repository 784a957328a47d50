// SPDX-License-Identifier: Apache-2.0
/// The identity of a print, equal for a template and for the reader's own record of it.
///
/// It consists of the values that `fp_print_equal` compares, and of nothing that a driver derives
/// from them. Two prints with the same identity are the same print to libfprint, so templates can
/// be compared with a reader's storage without libfprint.
package struct PrintIdentity: Hashable, Sendable {
    /// The canonical encoding of the identity, ready to be hashed.
    package let bytes: [UInt8]

    /// Encodes an identity.
    ///
    /// - Parameters:
    ///   - kind: libfprint's `FpiPrintType`.
    ///   - type: The type string of `data`.
    ///   - data: A GVariant in normal form.
    package init(kind: Int32, driver: String, deviceID: String, type: String, data: [UInt8]) {
        var fields = PrintFields()
        fields.append(UInt64(UInt32(bitPattern: kind)))
        fields.append(Array(driver.utf8))
        fields.append(Array(deviceID.utf8))
        fields.append(Array(type.utf8))
        fields.append(data)
        bytes = fields.bytes
    }

    /// Adopts an encoding that the other initialiser has made; the bytes are not checked.
    package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// An unambiguous encoding of a list of fields: each field is preceded by its length.
///
/// Different lists have different encodings, so the bytes can be compared and hashed.
package struct PrintFields {
    /// The encoding so far.
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty list.
    package init() {}

    /// Appends a field: its length as 8 bytes, big-endian, and its bytes.
    package mutating func append(_ field: [UInt8]) {
        append(UInt64(field.count))
        bytes += field
    }

    /// Appends an optional field: the number 0 for nil, or 1 and the field, so that nil differs
    /// from empty.
    package mutating func append(_ field: [UInt8]?) {
        append(UInt64(field == nil ? 0 : 1))
        if let field { append(field) }
    }

    /// Appends a number as 8 bytes, big-endian.
    package mutating func append(_ number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
