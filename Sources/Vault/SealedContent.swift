// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix

/// Content that is too long for a vault: sealed under a random key, which a vault seals.
package struct SealedContent: Equatable, Sendable {
    /// How many bytes sealing adds to the content.
    package static let overhead = AESGCM.overhead

    /// The key of 32 bytes, sealed by the vault to the whole context.
    package let key: [UInt8]
    /// The content, AES-256-GCM under that key, with all of the context but the fingers as additional
    /// data: the key alone is sealed anew where fingers change.
    package let content: [UInt8]

    /// What was read from disk, or was sealed anew.
    package init(key: [UInt8], content: [UInt8]) {
        self.key = key
        self.content = content
    }

    /// Seals content of any length from 1 byte on to a context.
    package static func seal(
        _ content: SecretBytes, _ context: SealingContext, by vault: any Vault
    ) throws(VaultError) -> SealedContent {
        let key = try randomKey()
        let sealed = try crypto { () throws(CryptoFault) in
            try AESGCM.seal(content, key: key, additional: additional(context))
        }
        return SealedContent(key: try vault.seal(key, context), content: sealed)
    }

    /// Opens content with the key that a vault has opened; `.doesNotOpen` for any other, for another
    /// item's content, and for altered bytes.
    package static func open(
        _ content: [UInt8], key: SecretBytes, _ context: SealingContext
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
