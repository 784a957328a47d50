// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// Takes messages out of the bytes of a stream; RFC 9987, section 4.
///
/// A message begins with its length, which is checked as soon as its four bytes have come, so that a
/// peer makes this process hold one message of `AgentLimit.message` bytes at most.
package struct AgentFrames: Sendable {
    private var bytes: [UInt8] = []

    /// Creates a reader at the beginning of a stream.
    package init() {}

    /// Whether no part of a message is held.
    package var isEmpty: Bool { bytes.isEmpty }

    /// How many bytes the next message can still take; at least one before `next` throws.
    package var room: Int { max(0, 4 + AgentLimit.message - bytes.count) }

    /// Adds bytes that were received.
    package mutating func append(_ more: [UInt8]) { bytes += more }

    /// Takes the next message out, without its length; nil until it has come as a whole.
    ///
    /// Throws `.malformed` for an empty message and `.tooLong` for one above the limit; the stream
    /// cannot be read any further.
    package mutating func next() throws(SSHFault) -> [UInt8]? {
        guard bytes.count >= 4 else { return nil }
        var length = 0
        for byte in bytes[..<4] { length = length << 8 | Int(byte) }
        guard length > 0 else { throw .malformed }
        guard length <= AgentLimit.message else { throw .tooLong }
        guard bytes.count >= 4 + length else { return nil }
        let message = [UInt8](bytes[4..<4 + length])
        bytes.removeFirst(4 + length)
        return message
    }

    /// A message with the length before it.
    package static func frame(_ message: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.put(message)
        return writer.bytes
    }
}
