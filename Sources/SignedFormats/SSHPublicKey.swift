// SPDX-License-Identifier: Apache-2.0
/// A P-256 public key in OpenSSH's forms (RFC 5656, section 3.1).
package struct SSHPublicKey: Equatable, Sendable {
    /// The only algorithm that Signet's keys have.
    package static let algorithm: StaticString = "ecdsa-sha2-nistp256"
    /// The longest line of a key file in bytes.
    package static let maximumLineLength = 2_048

    /// The uncompressed point: 0x04, x, y; 65 bytes. Whether it lies on the curve is not checked.
    package let point: [UInt8]

    /// From a point; nil unless it has the size and the first byte of an uncompressed one.
    package init?(point: [UInt8]) {
        guard point.count == 65, point[0] == 4 else { return nil }
        self.point = point
    }

    /// The key blob: algorithm, curve and point, each with its length.
    package var blob: [UInt8] {
        var writer = SSHWriter()
        writer.put(SSHPublicKey.algorithm.bytes)
        writer.put(StaticString("nistp256").bytes)
        writer.put(point)
        return writer.bytes
    }

    /// From a key blob; throws unless it is exactly one P-256 key.
    package init(blob: [UInt8]) throws(SSHFault) {
        try self.init(reading: SSHReader(blob))
    }

    /// The same from a reader that ends with it.
    init(reading reader: SSHReader) throws(SSHFault) {
        var reader = reader
        guard try reader.isNext(SSHPublicKey.algorithm, cap: 32),
            try reader.isNext("nistp256", cap: 16),
            let key = SSHPublicKey(point: try reader.string(cap: 65))
        else { throw .unsupported }
        try reader.end()
        self = key
    }

    /// `ecdsa-sha2-nistp256 AAAA… comment`, ended by LF.
    package func line(comment: [UInt8]) -> [UInt8] {
        SSHPublicKey.algorithm.bytes + [UInt8(ascii: " ")]
            + Base64.encode(blob, .standard) + [UInt8(ascii: " ")] + comment
            + [UInt8(ascii: "\n")]
    }

    /// From exactly one such line; gives the key and its comment.
    package static func parse(
        line: [UInt8]
    ) throws(SSHFault) -> (key: SSHPublicKey, comment: [UInt8]) {
        guard line.count <= maximumLineLength else { throw .tooLong }
        guard line.last == UInt8(ascii: "\n") else { throw .truncated }
        let words = [UInt8](line.dropLast()).parts(between: UInt8(ascii: " "), most: 3)
        guard words.count == 3, words[0] == algorithm.bytes,
            let blob = Base64.decode(words[1], .standard),
            !words[2].contains(UInt8(ascii: "\n"))
        else { throw .malformed }
        return (try SSHPublicKey(blob: blob), words[2])
    }
}
