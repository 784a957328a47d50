// SPDX-License-Identifier: Apache-2.0
/// The bytes of a frame, a field or a text on the wire.
package typealias Bytes = [UInt8]

/// The constants of a frame: one packet of a SOCK_SEQPACKET connection.
///
/// Layout: version (1 byte) and kind (1 byte), then the fields, each of tag (1 byte), length (2
/// bytes, big-endian) and value. Tags ascend strictly. See docs/developer/PROTOCOL.md.
package enum Frame {
    /// The version of the protocol that this code speaks.
    package static let version: UInt8 = 1
    /// The longest frame in bytes; a longer packet is rejected unread.
    package static let maximumLength = 16_384
    /// The length of version and kind in bytes.
    package static let headerLength = 2
    /// The length of a field's tag and length in bytes.
    package static let fieldHeaderLength = 3
}

/// Why a frame was rejected or could not be encoded.
package enum WireFault: Error, Equatable {
    /// The packet ends before the end that a length announces.
    case truncated
    /// The packet or a field exceeds its limit, or a value to be written has the wrong size.
    case tooLong
    /// The first byte names a version that this code does not speak.
    case version
    /// The kind is not one of this direction.
    case unknownKind
    /// A field is unknown here, repeated, out of order, missing, or follows the last one expected.
    case unexpectedField
    /// A field's value has the wrong size or form.
    case malformedValue
}
