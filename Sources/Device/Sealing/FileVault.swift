// SPDX-License-Identifier: Apache-2.0
import Crypto
import Gate
import Posix

/// A vault that seals with AES-256-GCM under the host secret.
///
/// The caller stores the sealed bytes. The sealing key is HKDF-SHA256 (RFC 5869) of the host
/// secret, with the credential's id as salt and the encoded context as info. The context is
/// authenticated a second time as additional data. Any other context gives another key, so opening
/// fails with `.doesNotOpen`. The protection is as good as the secrecy of the host secret: a
/// process that can read it can derive every key without a touch.
///
/// Sealed bytes: magic (6), version (1), kind (1), nonce (12), ciphertext (138 for a PKCS#8 key),
/// tag (16).
package struct FileVault: Vault {
    package let kind = VaultKind.file

    private let host: HostSecret

    /// Creates a vault whose keys open only with this host secret.
    package init(host: HostSecret) {
        self.host = host
    }

    package func create(_ context: SealingContext) throws(VaultError) -> NewCredential {
        try crypto { () throws(CryptoFault) in
            let key = try P256PrivateKey.generate()
            return NewCredential(
                publicPoint: key.publicPoint,
                sealed: try encrypt(try key.pkcs8(), context: context, content: .key))
        }
    }

    package func seal(
        _ data: SecretBytes, context: SealingContext
    ) throws(VaultError) -> [UInt8] {
        guard (1...VaultLimit.data).contains(data.count) else { throw .malformed }
        return try crypto { () throws(CryptoFault) in
            try encrypt(data, context: context, content: .data)
        }
    }

    /// Checks the header and warms up libcrypto.
    ///
    /// Nothing is decrypted before the match, so a wrong context is noticed only by `sign`.
    package func ready(
        key sealed: [UInt8], context: SealingContext
    ) throws(VaultError) -> any ReadyKey {
        try check(sealed, content: .key)
        try crypto { () throws(CryptoFault) in try CryptoWarmUp.reached() }
        return FileKey(vault: self, sealed: sealed)
    }

    /// Checks the header only.
    ///
    /// Nothing is decrypted before the match.
    package func ready(
        data sealed: [UInt8], context: SealingContext
    ) throws(VaultError) -> any ReadyData {
        try check(sealed, content: .data)
        return FileData(vault: self, sealed: sealed)
    }

    /// Whether the bytes are data that this vault sealed, as far as the header shows.
    ///
    /// The file vault has only one policy.
    package func isUnderPresentPolicy(data sealed: [UInt8]) -> Bool {
        (try? check(sealed, content: .data)) != nil
    }

    package func reseal(
        key sealed: [UInt8], from old: SealingContext, to new: SealingContext,
        by permission: borrowing ResealPermission
    ) throws(VaultError) -> [UInt8] {
        try check(sealed, content: .key)
        return try crypto { () throws(CryptoFault) in
            try encrypt(
                try decrypt(sealed, context: old, content: .key), context: new, content: .key)
        }
    }

    package func describe() throws(VaultError) -> VaultDescription {
        VaultDescription(
            kind: .file, maker: "OpenSSL",
            policy: "AES-256-GCM under the host secret and the fingers")
    }

    package func rest() {}

    private func check(_ sealed: [UInt8], content: Content) throws(VaultError) {
        guard sealed.count <= VaultLimit.sealed, sealed.starts(with: content.header) else {
            throw .malformed
        }
    }

    private func encrypt(
        _ secret: SecretBytes, context: SealingContext, content: Content
    ) throws(CryptoFault) -> [UInt8] {
        try content.header
            + AESGCM.seal(
                secret, key: try sealingKey(context), additional: content.additional(context))
    }

    fileprivate func decrypt(
        _ sealed: [UInt8], context: SealingContext, content: Content
    ) throws(CryptoFault) -> SecretBytes {
        try AESGCM.open(
            Array(sealed.dropFirst(content.header.count)), key: try sealingKey(context),
            additional: content.additional(context))
    }

    private func sealingKey(_ context: SealingContext) throws(CryptoFault) -> SecretBytes {
        try HKDF.derive(
            from: host.secret, salt: context.item,
            info: context.encoded(label: "signet file vault 1"), count: AESGCM.keyCount)
    }
}

/// The kind of the sealed content.
///
/// It is part of the header and of the additional data, so that a key cannot be opened as data, nor
/// data as a key.
private enum Content {
    case key
    case data

    /// Magic (6 bytes), version and kind.
    var header: [UInt8] {
        switch self {
        case .key: Array("signet".utf8) + [1, 1]
        case .data: Array("signet".utf8) + [1, 3]
        }
    }

    func additional(_ context: SealingContext) -> [UInt8] {
        switch self {
        case .key: header + context.encoded(label: "signet sealed key 1")
        case .data: header + context.encoded(label: "signet sealed data 1")
        }
    }
}

/// A key of the file vault.
///
/// The private key is decrypted for each signature and released after it.
private final class FileKey: ReadyKey {
    private let vault: FileVault
    private let sealed: [UInt8]

    init(vault: FileVault, sealed: [UInt8]) {
        self.vault = vault
        self.sealed = sealed
    }

    func sign(
        _ message: [UInt8], context: SealingContext, by permission: borrowing SigningPermission
    ) throws(VaultError) -> P256Signature {
        try crypto { () throws(CryptoFault) in
            try P256PrivateKey(pkcs8: try vault.decrypt(sealed, context: context, content: .key))
                .sign(message)
        }
    }

    func release() {}
}

/// Sealed data of the file vault.
private final class FileData: ReadyData {
    private let vault: FileVault
    private let sealed: [UInt8]

    init(vault: FileVault, sealed: [UInt8]) {
        self.vault = vault
        self.sealed = sealed
    }

    func lift(_ context: SealingContext) throws(VaultError) -> LiftedData {
        LiftedData(
            content: try crypto { () throws(CryptoFault) in
                try vault.decrypt(sealed, context: context, content: .data)
            })
    }

    func release() {}
}

/// Runs every operation that a signature needs once, before the touch.
///
/// libcrypto loads code on first use; without this, the first signature after a start would be
/// delayed by it. The outcome is computed once per process.
private enum CryptoWarmUp {
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

/// Runs cryptography and converts its fault.
///
/// A failed authentication tag and a private key that cannot be parsed become `.doesNotOpen`,
/// because a wrong context or altered bytes cause them. Every other fault becomes `.crypto`, which
/// says nothing about the item.
func crypto<Result>(_ body: () throws(CryptoFault) -> Result) throws(VaultError) -> Result {
    do throws(CryptoFault) {
        return try body()
    } catch {
        switch error {
        case .notAuthentic, .badPrivateKey: throw .doesNotOpen
        case .library, .memory, .length, .badPublicKey, .badCertificate: throw .crypto(error)
        }
    }
}
