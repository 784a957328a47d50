// SPDX-License-Identifier: Apache-2.0
import Crypto

/// Constants of TPM 2.0 part 2: table 9 (TPM_ALG_ID) and table 10 (TPM_ECC_CURVE).
package enum Algorithm {
    package static let rsa: UInt16 = 0x0001
    package static let aes: UInt16 = 0x0006
    package static let keyedHash: UInt16 = 0x0008
    package static let sha256: UInt16 = 0x000b
    package static let none: UInt16 = 0x0010
    package static let ecdsa: UInt16 = 0x0018
    package static let ecc: UInt16 = 0x0023
    package static let cfb: UInt16 = 0x0043
    package static let p256: UInt16 = 0x0003
}

/// Attributes of an object: bits of TPM 2.0 part 2, table 31 (TPMA_OBJECT).
enum Attribute {
    static let fixedTPM: UInt32 = 1 << 1
    static let stClear: UInt32 = 1 << 2
    static let fixedParent: UInt32 = 1 << 4
    static let sensitiveDataOrigin: UInt32 = 1 << 5
    static let userWithAuth: UInt32 = 1 << 6
    static let adminWithPolicy: UInt32 = 1 << 7
    static let noDA: UInt32 = 1 << 10
    static let restricted: UInt32 = 1 << 16
    static let decrypt: UInt32 = 1 << 17
    static let sign: UInt32 = 1 << 18

    static let root =
        fixedTPM | fixedParent | sensitiveDataOrigin | userWithAuth | noDA | restricted | decrypt
    static let signer = fixedTPM | fixedParent | sensitiveDataOrigin | noDA | sign
    static let data = fixedTPM | fixedParent | noDA
}

/// The public area of an object as a serialised TPMT_PUBLIC; TPM 2.0 part 2, 12.2.4.
///
/// Templates are created here. An area that a TPM returns or a file contains is compared with the
/// template byte by byte, except for the public key itself, so an object with weaker attributes or
/// another policy is never used. A storage root key may have been created by other software, so it
/// is judged by its properties instead (`unfitness`).
package struct PublicArea: Equatable, Sendable {
    /// The maximum length in bytes; the area of a 2048-bit RSA key has about 320.
    package static let limit = 512

    /// The TPMT_PUBLIC without a length prefix.
    package let bytes: [UInt8]

    /// Creates a value from bytes, which are not checked.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the template of a P-256 key that signs SHA-256 digests under a policy and does
    /// nothing else; the policy is a digest of 32 bytes.
    package static func signer(policy: [UInt8]) -> PublicArea {
        PublicArea(bytes: signerHead(policy) + emptyPoint)
    }

    /// Returns the template of sealed data under a policy, a digest of 32 bytes.
    package static func data(policy: [UInt8]) -> PublicArea {
        PublicArea(bytes: dataHead(policy) + bigEndian(UInt16(0)))
    }

    /// The TCG's template of a P-256 storage root key; TCG TPM v2.0 Provisioning Guidance 1.0,
    /// 7.5.1.
    package static let root = PublicArea(
        bytes: head(Algorithm.ecc, attributes: Attribute.root, policy: [])
            + [Algorithm.aes, 128, Algorithm.cfb, Algorithm.none, Algorithm.p256, Algorithm.none]
            .flatMap { bigEndian($0) } + emptyPoint)

    /// Returns the public key, an uncompressed point of 65 bytes, if this is a signing key exactly
    /// as the template creates it under this policy; else nil.
    package func signerPoint(policy: [UInt8]) -> [UInt8]? {
        guard let (x, y) = point(after: PublicArea.signerHead(policy)) else { return nil }
        return [0x04] + padded(x) + padded(y)
    }

    /// Whether this is sealed data exactly as the template creates it under this policy.
    package func isData(policy: [UInt8]) -> Bool {
        let head = PublicArea.dataHead(policy)
        guard bytes.starts(with: head) else { return false }
        var reader = WireReader(Array(bytes.dropFirst(head.count)))
        return reader.sized(limit: 32)?.count == 32 && reader.isAtEnd
    }

    /// Returns the object's Name: the hash algorithm's identifier and the SHA-256 of the area; TPM
    /// 2.0 part 1, 16.
    package func name() throws(CryptoFault) -> [UInt8] {
        try bigEndian(Algorithm.sha256) + SHA256.digest(bytes)
    }

    /// The length of a Name in bytes.
    package static let nameCount = 2 + SHA256.digestCount

    /// The reason why the area cannot be that of our storage root key; nil if it can.
    ///
    /// Accepted is a restricted decryption key with a SHA-256 Name that is fixed to this TPM and
    /// can be used with its authorisation value, protects its children with AES of at least 128
    /// bits in CFB mode, and is either RSA of at least 2048 bits or P-256.
    package var unfitness: String? {
        var reader = WireReader(bytes)
        guard let type = reader.uint16(), let nameHash = reader.uint16(),
            let attributes = reader.uint32(), reader.sized(limit: 64) != nil,
            nameHash == Algorithm.sha256
        else { return "its Name is not a SHA-256" }
        // Without noDA, each attempt to use a root key that has an authorisation value would count
        // towards the lockout.
        let refused = Attribute.sign | Attribute.stClear
        guard attributes & Attribute.root == Attribute.root, attributes & refused == 0
        else { return "it is not a storage key of this TPM alone and for everybody's use" }
        guard reader.uint16() == Algorithm.aes, let bits = reader.uint16(), bits >= 128,
            reader.uint16() == Algorithm.cfb, reader.uint16() == Algorithm.none
        else { return "it does not protect its children with AES" }
        return isStrong(type, reader: &reader) ? nil : "it is neither RSA of 2048 bits nor P-256"
    }

    private func isStrong(_ type: UInt16, reader: inout WireReader) -> Bool {
        switch type {
        case Algorithm.rsa:
            guard let bits = reader.uint16(), bits >= 2048, reader.uint32() != nil,
                let modulus = reader.sized(limit: 512), modulus.count == Int(bits) / 8
            else { return false }
        case Algorithm.ecc:
            guard reader.uint16() == Algorithm.p256, reader.uint16() == Algorithm.none,
                let x = reader.sized(limit: 32), let y = reader.sized(limit: 32),
                !x.isEmpty, !y.isEmpty
            else { return false }
        default: return false
        }
        return reader.isAtEnd
    }

    func point(after head: [UInt8]) -> ([UInt8], [UInt8])? {
        guard bytes.starts(with: head) else { return nil }
        var reader = WireReader(Array(bytes.dropFirst(head.count)))
        guard let x = reader.sized(limit: 32), let y = reader.sized(limit: 32), reader.isAtEnd,
            !x.isEmpty, !y.isEmpty
        else { return nil }
        return (x, y)
    }

    static let emptyPoint = bigEndian(UInt16(0)) + bigEndian(UInt16(0))

    private static func signerHead(_ policy: [UInt8]) -> [UInt8] {
        let parameters = [
            Algorithm.none, Algorithm.ecdsa, Algorithm.sha256, Algorithm.p256, Algorithm.none,
        ]
        return head(Algorithm.ecc, attributes: Attribute.signer, policy: policy)
            + parameters.flatMap { bigEndian($0) }
    }

    private static func dataHead(_ policy: [UInt8]) -> [UInt8] {
        head(Algorithm.keyedHash, attributes: Attribute.data, policy: policy)
            + bigEndian(Algorithm.none)
    }

    static func head(_ type: UInt16, attributes: UInt32, policy: [UInt8]) -> [UInt8] {
        bigEndian(type) + bigEndian(Algorithm.sha256) + bigEndian(attributes)
            + bigEndian(UInt16(policy.count)) + policy
    }
}

/// Pads a number with leading zeros to 32 bytes, because some TPMs omit them.
package func padded(_ number: [UInt8]) -> [UInt8] {
    [UInt8](repeating: 0, count: max(0, 32 - number.count)) + number
}
