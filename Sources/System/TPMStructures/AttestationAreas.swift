// SPDX-License-Identifier: Apache-2.0
import Crypto

// The public areas of the two keys that prove a TPM: the endorsement key, which its maker certifies,
// and the attestation key, which signs what the TPM itself says and nothing else.

/// The template of an endorsement key; TCG EK Credential Profile 2.4, annex B.
package enum EndorsementTemplate: CaseIterable, Sendable {
    /// L-1: RSA of 2048 bits.
    case rsa2048
    /// L-2: the curve P-256.
    case p256

    /// The index in the TPM's memory where the certificate of such a key is; the same profile, 2.2.
    package var certificateIndex: UInt32 {
        switch self {
        case .rsa2048: 0x01c0_0002
        case .p256: 0x01c0_000a
        }
    }

    /// The persistent handle where such a key is by convention, if it is persistent.
    package var persistentHandle: UInt32 {
        switch self {
        case .rsa2048: 0x8101_0001
        case .p256: 0x8101_0002
        }
    }

    /// Its public area, in which the key itself is zeros.
    package var area: PublicArea {
        let zeros = [UInt8](repeating: 0, count: 32)
        let unique =
            switch self {
            case .rsa2048: bigEndian(UInt16(256)) + [UInt8](repeating: 0, count: 256)
            case .p256: bigEndian(UInt16(32)) + zeros + bigEndian(UInt16(32)) + zeros
            }
        return PublicArea(bytes: head + unique)
    }

    /// Whether an area is of this template, apart from the key itself.
    package func fits(_ area: PublicArea) -> Bool {
        guard area.bytes.starts(with: head) else { return false }
        var reader = WireReader(Array(area.bytes.dropFirst(head.count)))
        switch self {
        case .rsa2048: return reader.sized(limit: 256)?.count == 256 && reader.isAtEnd
        case .p256:
            return reader.sized(limit: 32) != nil && reader.sized(limit: 32) != nil
                && reader.isAtEnd
        }
    }

    /// PolicySecret(TPM_RH_ENDORSEMENT), the policy of the low range; the same profile, B.3.
    private static let policy: [UInt8] = [
        0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8, 0x1a, 0x90, 0xcc, 0x8d, 0x46, 0xa5, 0xd7,
        0x24, 0xfd, 0x52, 0xd7, 0x6e, 0x06, 0x52, 0x0b, 0x64, 0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14,
        0x69, 0xaa,
    ]

    private var head: [UInt8] {
        let type = self == .rsa2048 ? Algorithm.rsa : Algorithm.ecc
        let symmetric = [Algorithm.aes, 128, Algorithm.cfb, Algorithm.none]
            .flatMap { bigEndian($0) }
        let parameters =
            switch self {
            case .rsa2048: bigEndian(UInt16(2_048)) + bigEndian(UInt32(0))
            case .p256: bigEndian(Algorithm.p256) + bigEndian(Algorithm.none)
            }
        return PublicArea.head(
            type, attributes: Attribute.endorsement, policy: EndorsementTemplate.policy)
            + symmetric + parameters
    }
}

extension PublicArea {
    /// The template of an attestation key: P-256, restricted to signing what the TPM says, fixed to
    /// its TPM, and created by it.
    package static let attestation = PublicArea(bytes: attestationHead + emptyPoint)

    /// The public key, an uncompressed point of 65 bytes, if this is an attestation key exactly as
    /// the template creates it; else nil.
    package var attestationPoint: [UInt8]? {
        guard let (x, y) = point(after: PublicArea.attestationHead) else { return nil }
        return [0x04] + padded(x) + padded(y)
    }

    private static let attestationHead =
        head(Algorithm.ecc, attributes: Attribute.attestation, policy: [])
        + [Algorithm.none, Algorithm.ecdsa, Algorithm.sha256, Algorithm.p256, Algorithm.none]
        .flatMap { bigEndian($0) }
}

extension Attribute {
    fileprivate static let endorsement =
        fixedTPM | fixedParent | sensitiveDataOrigin | adminWithPolicy | restricted | decrypt
    fileprivate static let attestation =
        fixedTPM | fixedParent | sensitiveDataOrigin | userWithAuth | noDA | restricted | sign
}
