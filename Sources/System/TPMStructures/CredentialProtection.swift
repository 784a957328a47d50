// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix

/// A secret that only one TPM can read, and only while an object with a certain Name is loaded in
/// it: what TPM2_MakeCredential returns; TPM 2.0 part 1, 24.
package struct ProtectedCredential: Equatable, Sendable {
    /// The maximum length in bytes of each part that is read.
    package static let limit = 512

    /// The secret, encrypted and bound to the Name: a TPM2B_ID_OBJECT without its length.
    package let blob: [UInt8]
    /// The seed of that, encrypted to the endorsement key: a TPM2B_ENCRYPTED_SECRET without its
    /// length.
    package let seed: [UInt8]

    /// Creates a value from both parts.
    package init(blob: [UInt8], seed: [UInt8]) {
        self.blob = blob
        self.seed = seed
    }

    /// Protects a secret of at most 32 bytes, without a TPM.
    ///
    /// - Parameters:
    ///   - name: the Name of the object that must be loaded, 34 bytes.
    ///   - endorsement: the certificate of the endorsement key; the key must be of an
    ///     `EndorsementTemplate`.
    /// - Throws: `.length` for a longer secret.
    package static func protect(
        _ secret: [UInt8], name: [UInt8], endorsement: Certificate
    ) throws(CryptoFault) -> ProtectedCredential {
        guard (1...SHA256.digestCount).contains(secret.count), let plain = sized(secret) else {
            throw .length
        }
        let (seed, encryptedSeed) = try newSeed(for: endorsement)
        let cipherKey = try kdfa(seed, label: "STORAGE", context: name, bytes: AESCFB.keyCount)
        let identity = try AESCFB.encrypt(plain, key: cipherKey)
        let macKey = try kdfa(seed, label: "INTEGRITY", context: [], bytes: SHA256.digestCount)
        let mac = try HMAC.sha256(of: identity + name, key: macKey)
        return ProtectedCredential(
            blob: bigEndian(UInt16(mac.count)) + mac + identity, seed: encryptedSeed)
    }

    /// Makes a seed and encrypts it to the endorsement key; TPM 2.0 part 1, B.10.4 and C.6.3.
    private static func newSeed(
        for endorsement: Certificate
    ) throws(CryptoFault) -> (SecretBytes, encrypted: [UInt8]) {
        switch endorsement.keyKind {
        case .rsa2048:
            var seed: [UInt8]
            do throws(SystemFault) {
                seed = try randomBytes(SHA256.digestCount)
            } catch { throw .library(operation: error.operation) }
            let encrypted = try endorsement.encrypt(seed, label: identityLabel)
            return (try secret(&seed), encrypted)
        case .p256:
            guard let point = endorsement.point else { throw .badCertificate }
            let own = try P256PrivateKey.generate()
            var shared = try own.sharedSecret(with: try P256PublicKey(point: point))
            defer { wipe(&shared) }
            let (x, y) = (Array(own.publicPoint[1..<33]), Array(own.publicPoint[33..<65]))
            var seed = try SHA256.digest(
                bigEndian(UInt32(1)) + shared + identityLabel + x + point[1..<33])
            let encrypted = bigEndian(UInt16(32)) + x + bigEndian(UInt16(32)) + y
            return (try secret(&seed), encrypted)
        }
    }

    private static let identityLabel = Array("IDENTITY".utf8) + [0]

    /// KDFa with HMAC-SHA256, for at most 32 bytes; TPM 2.0 part 1, 11.4.10.2.
    private static func kdfa(
        _ key: SecretBytes, label: String, context: [UInt8], bytes: Int
    ) throws(CryptoFault) -> SecretBytes {
        var derived = try HMAC.sha256(
            of: bigEndian(UInt32(1)) + Array(label.utf8) + [0] + context
                + bigEndian(UInt32(bytes * 8)), key: key)
        defer { wipe(&derived) }
        var wanted = Array(derived.prefix(bytes))
        return try secret(&wanted)
    }

    private static func secret(_ bytes: inout [UInt8]) throws(CryptoFault) -> SecretBytes {
        do throws(SystemFault) {
            return try SecretBytes(moving: &bytes)
        } catch { throw .memory }
    }
}
