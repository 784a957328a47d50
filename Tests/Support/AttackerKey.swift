/// A P-256 key pair of somebody who sits between a program and its TPM.
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

extension TPMInterposer {
    /// From now on, every primary or other storage key that the TPM shows to the program has the
    /// attacker's public key in it, with a Name that fits.
    package func fakePrimary(with key: AttackerKey) {
        setRule(at: .answer) { [core] exchange in
            guard exchange.code == .createPrimary || exchange.code == .readPublic,
                let response = exchange.parsedResponse
            else { return .pass }
            var fields = TPMReader(response.parameters)
            guard let area = fields.sized(), let forged = key.posing(as: area),
                let names = try? Self.names(of: area, by: core.tpm),
                let forgedNames = try? Self.names(of: forged, by: core.tpm)
            else { return .pass }
            var answer = response.bytes
            answer.replace(area, with: forged)
            for (name, forgedName) in zip(names, forgedNames) {
                answer.replace(name, with: forgedName)
            }
            return .answer(answer)
        }
    }

    /// Name and qualified name of an owner's primary (TPM 2.0 part 1, Names).
    private static func names(
        of area: [UInt8], by tpm: SoftwareTPM
    ) throws(TestFault) -> [[UInt8]] {
        let name = try [0, 0x0B] + tpm.digest(area)
        let qualified = try tpm.digest([UInt8](bigEndian: TPMHandle.owner) + name)
        return [name, [0, 0x0B] + qualified]
    }
}
