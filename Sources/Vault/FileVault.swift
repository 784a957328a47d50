import Crypto
import Posix

/// A vault that seals PKCS#8 keys with AES-256-GCM; the sealed bytes are kept by the caller.
///
/// The sealing key is HKDF-SHA256 of the host secret, salted with the credential's id, its info
/// the whole context; the context is authenticated a second time as additional data. Sealed bytes:
/// magic (6), version (1), kind (1), nonce (12), ciphertext (138), tag (16).
package struct FileVault: Vault {
    /// The most bytes a sealed key can have.
    package static let sealedLimit = 1024

    private static let header: [UInt8] = Array("signet".utf8) + [1, 1]
    private let host: HostSecret

    /// A vault whose keys open only with this host secret.
    package init(host: HostSecret) {
        self.host = host
    }

    package func prepare() throws(VaultError) {
        try crypto { () throws(CryptoFault) in try Warmth.reached() }
    }

    package func create(_ context: SealingContext) throws(VaultError) -> NewCredential {
        try crypto { () throws(CryptoFault) in
            let key = try P256PrivateKey.generate()
            return NewCredential(
                publicPoint: key.publicPoint, sealed: try seal(try key.pkcs8(), context))
        }
    }

    package func open(
        _ sealed: [UInt8], _ context: SealingContext
    ) throws(VaultError) -> any SigningKey {
        guard sealed.count <= Self.sealedLimit, sealed.starts(with: Self.header) else {
            throw .malformed
        }
        return try crypto { () throws(CryptoFault) in
            FileKey(key: try P256PrivateKey(pkcs8: try unseal(sealed, context)))
        }
    }

    package func reseal(
        _ sealed: [UInt8], from old: SealingContext, to new: SealingContext
    ) throws(VaultError) -> [UInt8] {
        guard sealed.count <= Self.sealedLimit, sealed.starts(with: Self.header) else {
            throw .malformed
        }
        return try crypto { () throws(CryptoFault) in try seal(try unseal(sealed, old), new) }
    }

    private func seal(
        _ encoded: SecretBytes, _ context: SealingContext
    ) throws(CryptoFault) -> [UInt8] {
        try Self.header
            + AESGCM.seal(
                encoded, key: try sealingKey(context), additional: additional(context))
    }

    private func unseal(
        _ sealed: [UInt8], _ context: SealingContext
    ) throws(CryptoFault) -> SecretBytes {
        try AESGCM.open(
            Array(sealed.dropFirst(Self.header.count)), key: try sealingKey(context),
            additional: additional(context))
    }

    private func sealingKey(_ context: SealingContext) throws(CryptoFault) -> SecretBytes {
        try HKDF.derive(
            from: host.secret, salt: context.credential,
            info: context.encoded(label: "signet file vault 1"), count: AESGCM.keyCount)
    }

    private func additional(_ context: SealingContext) -> [UInt8] {
        Self.header + context.encoded(label: "signet sealed key 1")
    }
}

/// A key of the file vault, open.
private struct FileKey: SigningKey {
    let key: P256PrivateKey

    func sign(_ message: [UInt8]) throws(VaultError) -> P256Signature {
        try crypto { () throws(CryptoFault) in try key.sign(message) }
    }
}

/// One turn through all that a signature needs, so that libcrypto has loaded and looked it up.
private enum Warmth {
    private static let outcome: Result<Void, CryptoFault> = turn()

    static func reached() throws(CryptoFault) { try outcome.get() }

    private static func turn() -> Result<Void, CryptoFault> {
        do throws(CryptoFault) {
            let secret = try HKDF.derive(
                from: try P256PrivateKey.generate().pkcs8(), salt: [], info: [], count: 32)
            let key = try P256PrivateKey.generate()
            let sealed = try AESGCM.seal(try key.pkcs8(), key: secret, additional: [])
            let opened = try AESGCM.open(sealed, key: secret, additional: [])
            _ = try P256PrivateKey(pkcs8: opened).sign([])
            return .success(())
        } catch { return .failure(error) }
    }
}

/// Runs cryptography; what only a wrong key or altered bytes can cause is `.doesNotOpen`.
func crypto<Result>(_ body: () throws(CryptoFault) -> Result) throws(VaultError) -> Result {
    do throws(CryptoFault) {
        return try body()
    } catch {
        switch error {
        case .notAuthentic, .badPrivateKey: throw .doesNotOpen
        case .library, .memory, .length, .badPublicKey: throw .crypto(error)
        }
    }
}
