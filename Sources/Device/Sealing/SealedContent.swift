// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix

/// Content that is too long for a vault to seal, encrypted with a random key that a vault seals.
///
/// The vault binds the key to the whole context, fingers included. The content is bound to the
/// context without the fingers, so that the key alone can be sealed again, to another vault or to
/// other fingers, while the content stays as it is.
package struct SealedContent: Equatable, Sendable {
    /// The number of bytes that sealing adds to the content.
    package static let overhead = AESGCM.overhead

    /// The key of 32 bytes, sealed by the vault to the whole context.
    package let key: [UInt8]
    /// The content, encrypted with AES-256-GCM under the key; the context without the fingers is
    /// the additional data.
    package let content: [UInt8]

    /// Creates a value from stored or newly sealed parts.
    package init(key: [UInt8], content: [UInt8]) {
        self.key = key
        self.content = content
    }

    /// Encrypts content of at least 1 byte with a new random key, and seals that key to the
    /// context.
    package static func seal(
        _ content: SecretBytes, context: SealingContext, by vault: any Vault
    ) throws(VaultError) -> SealedContent {
        let key = try randomKey()
        let sealed = try crypto { () throws(CryptoFault) in
            try AESGCM.seal(content, key: key, additional: additional(context))
        }
        return SealedContent(key: try vault.seal(key, context: context), content: sealed)
    }

    /// Decrypts content with the key that a vault has opened.
    ///
    /// Throws `.doesNotOpen` for another key, for another item's content, and for altered bytes.
    package static func open(
        _ content: [UInt8], key: SecretBytes, context: SealingContext
    ) throws(VaultError) -> SecretBytes {
        guard key.count == AESGCM.keyCount else { throw .doesNotOpen }
        return try crypto { () throws(CryptoFault) in
            try AESGCM.open(content, key: key, additional: additional(context))
        }
    }

    private static func additional(_ context: SealingContext) -> [UInt8] {
        context.encodedWithoutFingers(label: "signet sealed content 1")
    }

    private static func randomKey() throws(VaultError) -> SecretBytes {
        do throws(SystemFault) {
            return try SecretBytes.random(AESGCM.keyCount)
        } catch { throw .crypto(.library(operation: error.operation)) }
    }
}
