// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats

/// Seals small secrets for rows of a database that others may be able to read, copy or write.
///
/// It uses AES-256-GCM under a key that HKDF derives from the server's master secret for one
/// context, such as a column. Each value is bound to its row, so a sealed value does not open in
/// another row or column. A value that was replaced by an older one of the same row is not
/// detected. Because nonces are random, a context may seal at most 2³² values.
package struct RowSeal: Sendable {
    /// The minimum length of a master secret in bytes.
    package static let masterCount = 32

    private let key: SecretBytes

    /// Derives the key of a context, such as `mac-token`, which must be unique to one use.
    ///
    /// Throws `.length` for a master secret of less than 32 bytes or an empty context.
    package init(master: SecretBytes, context: StaticString) throws(CryptoFault) {
        guard master.count >= RowSeal.masterCount, context.utf8CodeUnitCount > 0 else {
            throw .length
        }
        key = try HKDF.derive(
            from: master, salt: StaticString("signet-server row 1").bytes, info: context.bytes,
            count: AESGCM.keyCount)
    }

    /// Seals a secret for the row with this identity; throws `.length` if the identity is empty.
    package func seal(_ secret: SecretBytes, row: [UInt8]) throws(CryptoFault) -> [UInt8] {
        guard !row.isEmpty else { throw .length }
        return try AESGCM.seal(secret, key: key, additional: row)
    }

    /// Opens a value that was sealed for this row.
    ///
    /// Throws `.notAuthentic` for another row, context or master secret and for altered bytes, and
    /// `.length` for an empty identity.
    package func open(_ sealed: [UInt8], row: [UInt8]) throws(CryptoFault) -> SecretBytes {
        guard !row.isEmpty else { throw .length }
        return try AESGCM.open(sealed, key: key, additional: row)
    }
}
