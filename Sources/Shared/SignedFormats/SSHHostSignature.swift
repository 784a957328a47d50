// SPDX-License-Identifier: Apache-2.0

// Host keys and signatures of hosts as far as their form goes: what Crypto verifies with. Every number
// has its length checked, so that nothing of another size reaches OpenSSL.

/// The public key of a host, in a form that can be verified with; RFC 4253, section 6.6, RFC 5656,
/// section 3.1, and RFC 8709, section 4.
package enum HostPublicKey: Equatable, Sendable {
    /// A curve of RFC 5656.
    package enum Curve: Equatable, Sendable, CaseIterable {
        case p256, p384, p521

        /// The curve's name in keys.
        package var name: StaticString {
            switch self {
            case .p256: "nistp256"
            case .p384: "nistp384"
            case .p521: "nistp521"
            }
        }

        /// The algorithm of the curve's keys and signatures.
        package var algorithm: StaticString {
            switch self {
            case .p256: "ecdsa-sha2-nistp256"
            case .p384: "ecdsa-sha2-nistp384"
            case .p521: "ecdsa-sha2-nistp521"
            }
        }

        /// The length of a coordinate in bytes.
        package var width: Int {
            switch self {
            case .p256: 32
            case .p384: 48
            case .p521: 66
            }
        }
    }

    /// A key of 32 bytes.
    case ed25519([UInt8])
    /// An uncompressed point.
    case ecdsa(Curve, point: [UInt8])
    /// Modulus and exponent, big-endian, without leading zeros; the modulus has 1,024 to 16,384 bits.
    case rsa(modulus: [UInt8], exponent: [UInt8])

    private static let rsaName: StaticString = "ssh-rsa"
    private static let ed25519Name: StaticString = "ssh-ed25519"

    /// Parses a host key; throws `.unsupported` for other types, which are those of security keys.
    package init(_ host: SSHHostKey) throws(SSHFault) {
        var reader = SSHReader(host.plain)
        let name = try reader.string(cap: 64)
        if Self.ed25519Name.isSpelled(by: name[...]) {
            self = .ed25519(try reader.string(cap: 32))
            guard case .ed25519(let key) = self, key.count == 32 else { throw .malformed }
        } else if Self.rsaName.isSpelled(by: name[...]) {
            let exponent = try reader.digits(cap: 8)
            let modulus = try reader.digits(cap: 2_048)
            guard modulus.count >= 128 else { throw .unsupported }
            self = .rsa(modulus: modulus, exponent: exponent)
        } else if let curve = Curve.allCases.first(where: {
            $0.algorithm.isSpelled(by: name[...])
        }) {
            guard try reader.isNext(curve.name, cap: 16) else { throw .malformed }
            let point = try reader.string(cap: 1 + 2 * curve.width)
            guard point.count == 1 + 2 * curve.width, point[0] == 4 else { throw .malformed }
            self = .ecdsa(curve, point: point)
        } else {
            throw .unsupported
        }
        try reader.end()
    }
}

/// A host's signature, parsed for a key; RFC 4253, section 6.6, RFC 5656, section 3.1.2, RFC 8332,
/// section 3, and RFC 8709, section 6.
package enum HostSignature: Equatable, Sendable {
    /// The hash of an RSA signature. SHA-1 is not among them.
    package enum RSAHash: Equatable, Sendable {
        case sha256, sha512
    }

    /// 64 bytes.
    case ed25519([UInt8])
    /// The numbers, big-endian, each as long as a coordinate of the curve.
    case ecdsa(r: [UInt8], s: [UInt8])
    /// As long as the modulus at most.
    case rsa(RSAHash, [UInt8])

    /// Parses a signature; throws unless it is exactly one of the key's algorithm.
    package init(_ blob: [UInt8], for key: HostPublicKey) throws(SSHFault) {
        var reader = SSHReader(blob)
        let name = try reader.string(cap: 64)
        switch key {
        case .ed25519:
            guard StaticString("ssh-ed25519").isSpelled(by: name[...]) else { throw .unsupported }
            let bytes = try reader.string(cap: 64)
            guard bytes.count == 64 else { throw .malformed }
            self = .ed25519(bytes)
        case .ecdsa(let curve, _):
            guard curve.algorithm.isSpelled(by: name[...]) else { throw .unsupported }
            var numbers = try reader.inside(cap: 2 * (curve.width + 5))
            let r = try numbers.unsigned(count: curve.width)
            let s = try numbers.unsigned(count: curve.width)
            try numbers.end()
            self = .ecdsa(r: r, s: s)
        case .rsa(let modulus, _):
            let hash: RSAHash
            if StaticString("rsa-sha2-256").isSpelled(by: name[...]) {
                hash = .sha256
            } else if StaticString("rsa-sha2-512").isSpelled(by: name[...]) {
                hash = .sha512
            } else {
                throw .unsupported
            }
            let bytes = try reader.string(cap: modulus.count)
            guard !bytes.isEmpty else { throw .malformed }
            self = .rsa(hash, bytes)
        }
        try reader.end()
    }
}

extension SSHReader {
    /// Reads a positive `mpint` of at most `cap` bytes, without leading zeros.
    fileprivate mutating func digits(cap: Int) throws(SSHFault) -> [UInt8] {
        [UInt8](try unsigned(count: cap).drop { $0 == 0 })
    }
}
