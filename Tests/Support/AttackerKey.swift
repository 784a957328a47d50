// SPDX-License-Identifier: Apache-2.0
/// A P-256 key pair of an attacker who sits between a program and its TPM.
package struct AttackerKey: Sendable {
    /// The point, 32 bytes each, big endian.
    package let x: [UInt8]
    package let y: [UInt8]
    /// The private half: 32 bytes, big endian.
    package let secret: [UInt8]

    /// Makes one, with openssl.
    package init() throws(TestFault) {
        let made = try Program(
            Command([
                "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-text",
            ])
        ).expectEnd()
        let secret = Self.bytes(of: "priv", in: made.output)
        let point = Self.bytes(of: "pub", in: made.output)
        guard secret.count == 32, point.count == 65, point[0] == 4 else {
            throw .closed(awaited: "a key pair", transcript: made.output + made.errors)
        }
        self.secret = secret
        x = Array(point[1..<33])
        y = Array(point[33...])
    }

    /// A TPM's public area with this key in place of its own; nil if that is no storage key on
    /// P-256 (restricted, decrypt).
    package func posing(as area: [UInt8]) -> [UInt8]? {
        var fields = TPMReader(area)
        guard fields.number(UInt16.self) == 0x23, fields.number(UInt16.self) == 0x0B,
            let attributes = fields.number(UInt32.self), attributes & 0x3_0000 == 0x3_0000,
            area.count > 68
        else { return nil }
        return Array(area.prefix(area.count - 68)) + x.sized + y.sized
    }

    /// The indented lines of hexadecimal numbers behind `name:`.
    private static func bytes(of name: String, in text: String) -> [UInt8] {
        let lines = text.split(separator: "\n").drop { $0 != name + ":" }.dropFirst()
            .prefix { $0.hasPrefix(" ") }
        return lines.flatMap { line in
            line.drop { $0 == " " }.split(separator: ":").compactMap { UInt8($0, radix: 16) }
        }
    }
}
