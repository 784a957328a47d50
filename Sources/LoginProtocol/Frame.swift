// SPDX-License-Identifier: Apache-2.0
/// The bytes of a frame, a field or a text, as they cross the socket.
package typealias Bytes = [UInt8]

/// What is fixed for every frame: one packet of a SOCK_SEQPACKET connection.
///
/// Layout: version (1 byte), kind (1 byte), then fields: tag (1 byte), length (2 bytes, big
/// endian), value. Tags ascend strictly. See docs/developer/PROTOCOL.md.
package enum Frame {
    /// The version of the protocol that this code speaks.
    package static let version: UInt8 = 1
    /// The longest frame in bytes; a longer packet is refused unread.
    package static let maximumLength = 16_384
    /// Version and kind, in bytes.
    package static let headerLength = 2
    /// Tag and length of a field, in bytes.
    package static let fieldHeaderLength = 3
}

/// Why a frame was refused, or could not be made.
package enum WireFault: Error, Equatable {
    /// The packet ends before what it announces.
    case truncated
    /// The packet, or one of its fields, is longer than its cap.
    case tooLong
    /// The first byte names a version that this code does not speak.
    case version
    /// The kind is none of this direction's.
    case unknownKind
    /// A field is unknown here, repeated, out of order, missing, or follows the last one.
    case unexpectedField
    /// A field's value has the wrong size or form.
    case malformedValue
}
