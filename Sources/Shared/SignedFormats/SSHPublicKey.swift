// SPDX-License-Identifier: Apache-2.0
import Domain

/// A P-256 public key in OpenSSH's formats; RFC 5656, section 3.1.
///
/// Only `ecdsa-sha2-nistp256` keys with an uncompressed point are accepted, each in its only
/// encoding. The point is not checked to lie on the curve; `P256PublicKey` does that.
package struct SSHPublicKey: Equatable, Sendable {
    /// The algorithm of all of Signet's keys.
    package static let algorithm: StaticString = "ecdsa-sha2-nistp256"
    /// The maximum length of a key file's line in bytes, including LF.
    package static let maximumLineLength = 2_048

    /// The uncompressed point, which begins with 0x04 and is not checked to lie on the curve.
    package let point: PublicKeyPoint

    /// Creates a key from a point; nil unless it begins with 0x04.
    package init?(_ point: PublicKeyPoint) {
        guard point.bytes[0] == 4 else { return nil }
        self.point = point
    }

    /// Creates a key from the bytes of a point; nil unless there are 65 that begin with 0x04.
    package init?(point bytes: [UInt8]) {
        guard let point = PublicKeyPoint(bytes) else { return nil }
        self.init(point)
    }

    /// The key blob: the names of algorithm and curve, and the point, each preceded by its length.
    package var blob: [UInt8] {
        var writer = SSHWriter()
        writer.put(SSHPublicKey.algorithm.bytes)
        writer.put(StaticString("nistp256").bytes)
        writer.put(point.bytes)
        return writer.bytes
    }

    /// Parses a key blob; throws an `SSHFault` unless it is exactly one P-256 key.
    package init(blob: [UInt8]) throws(SSHFault) {
        try self.init(reading: SSHReader(blob))
    }

    /// Parses a key blob that fills the rest of the reader's contents.
    init(reading reader: SSHReader) throws(SSHFault) {
        var reader = reader
        guard try reader.isNext(SSHPublicKey.algorithm, cap: 32),
            try reader.isNext("nistp256", cap: 16),
            let key = SSHPublicKey(point: try reader.string(cap: 65))
        else { throw .unsupported }
        try reader.end()
        self = key
    }

    /// The line of a key file, `ecdsa-sha2-nistp256 AAAA… comment`, ended by LF.
    package func line(comment: [UInt8]) -> [UInt8] {
        SSHPublicKey.algorithm.bytes + [UInt8(ascii: " ")]
            + Base64.encode(blob, alphabet: .standard) + [UInt8(ascii: " ")] + comment
            + [UInt8(ascii: "\n")]
    }

    /// Parses exactly one line as `line(comment:)` writes it.
    ///
    /// It must have a comment, which may contain spaces, and end with LF. Options before the key
    /// are not accepted.
    package static func parse(
        line: [UInt8]
    ) throws(SSHFault) -> (key: SSHPublicKey, comment: [UInt8]) {
        guard line.count <= maximumLineLength else { throw .tooLong }
        guard line.last == UInt8(ascii: "\n") else { throw .truncated }
        let words = [UInt8](line.dropLast()).parts(between: UInt8(ascii: " "), most: 3)
        guard words.count == 3, words[0] == algorithm.bytes,
            let blob = Base64.decode(words[1], alphabet: .standard),
            !words[2].contains(UInt8(ascii: "\n"))
        else { throw .malformed }
        return (try SSHPublicKey(blob: blob), words[2])
    }
}
