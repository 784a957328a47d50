// SPDX-License-Identifier: Apache-2.0
/// The layout of a frame that carries a part of a secret.
///
/// The caller builds the frame around the part and finds the part in it, so that every copy of the
/// secret lies in memory that the caller can wipe.
package enum SecretPartFrame {
    private static let start = Frame.headerLength + Frame.fieldHeaderLength

    /// The size of the next part when `left` bytes remain; all parts but the last are full.
    package static func count(ofNext left: Int) -> Int { min(left, Limit.secretPart) }

    /// The bytes before the part in a frame of this kind; `count` is at most `Limit.secretPart`.
    package static func header(_ kind: Kind, count: Int) -> Bytes {
        [
            Frame.version, kind.rawValue, Field.secretPart.rawValue,
            UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
        ]
    }

    /// The range of the part in a packet; nil if the packet is of another kind.
    ///
    /// Throws unless a packet of this kind is exactly one well-formed frame.
    package static func range(_ kind: Kind, in packet: Bytes) throws(WireFault) -> Range<Int>? {
        guard packet.count >= Frame.headerLength, packet[0] == Frame.version,
            packet[1] == kind.rawValue
        else { return nil }
        guard packet.count >= start else { throw .truncated }
        let length = Int(packet[3]) << 8 | Int(packet[4])
        guard packet[2] == Field.secretPart.rawValue, Field.secretPart.size.contains(length) else {
            throw .malformedValue
        }
        guard packet.count - start >= length else { throw .truncated }
        guard packet.count - start == length else { throw .unexpectedField }
        return start..<packet.count
    }

    /// The direction of the secret; the raw value is the frame's kind.
    package enum Kind: UInt8, Sendable {
        /// From the client, to be stored.
        case kept = 17
        /// To the client, after a touch.
        case released = 140
    }
}

/// The progress of a secret that is sent in parts, each of which must have the size due next.
package struct SecretProgress: Equatable, Sendable {
    /// The number of bytes still to come.
    package private(set) var left: Int

    /// Starts before the first part; nil unless `count` is a size that a secret may have.
    package init?(count: UInt32) {
        guard let count = Int(exactly: count), (1...Limit.secret).contains(count) else {
            return nil
        }
        left = count
    }

    /// Whether all parts have arrived.
    package var isWhole: Bool { left == 0 }

    /// Accepts a part of this size; returns false, without effect, unless it is the size due next.
    package mutating func take(_ count: Int) -> Bool {
        guard left > 0, count == SecretPartFrame.count(ofNext: left) else { return false }
        left -= count
        return true
    }
}
