// SPDX-License-Identifier: Apache-2.0
/// A frame that carries a part of a secret, so built and found that each copy can be wiped.
package enum SecretPartFrame {
    private static let start = Frame.headerLength + Frame.fieldHeaderLength

    /// How many bytes the next part has when so many are left: all parts but the last are full.
    package static func count(ofNext left: Int) -> Int { min(left, Limit.secretPart) }

    /// What stands before the part in a frame of this kind; `count` is at most `Limit.secretPart`.
    package static func header(_ kind: Kind, count: Int) -> Bytes {
        [
            Frame.version, kind.rawValue, Field.secretPart.rawValue,
            UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
        ]
    }

    /// The place of the part if the packet is such a frame, nil if it is another kind.
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

    /// Which way the secret goes; the raw value is the frame's kind.
    package enum Kind: UInt8, Sendable {
        /// From the client, to be kept.
        case kept = 17
        /// To the client, after a touch.
        case released = 140
    }
}

/// How far the parts of one announced secret have come: each has the one size that it must have.
package struct SecretProgress: Equatable, Sendable {
    /// Bytes that have still to come.
    package private(set) var left: Int

    /// Before the first part; nil unless the secret has a size that one may have.
    package init?(count: UInt32) {
        guard let count = Int(exactly: count), (1...Limit.secret).contains(count) else {
            return nil
        }
        left = count
    }

    /// Whether all parts have come.
    package var isWhole: Bool { left == 0 }

    /// Takes a part of so many bytes; false, and nothing taken, unless it is the next one.
    package mutating func take(_ count: Int) -> Bool {
        guard left > 0, count == SecretPartFrame.count(ofNext: left) else { return false }
        left -= count
        return true
    }
}
