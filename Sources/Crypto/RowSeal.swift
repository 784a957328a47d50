// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats

/// Seals small secrets for rows of a database that others can read, copy or write to.
///
/// AES-256-GCM under a key that HKDF derives from the server's master secret for one context, a
/// column; bound to the row, so that a sealed value moved to another row or column does not open.
/// With random nonces a context may be sealed 2³² times.
package struct RowSeal: Sendable {
    /// The least number of bytes of a master secret.
    package static let masterCount = 32

    private let key: SecretBytes

    /// Derives the key of a context, such as `mac-token`, which no other use may have.
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

    /// Seals a secret for the row with this identity, which is never empty.
    package func seal(_ secret: SecretBytes, row: [UInt8]) throws(CryptoFault) -> [UInt8] {
        guard !row.isEmpty else { throw .length }
        return try AESGCM.seal(secret, key: key, additional: row)
    }

    /// Opens what was sealed for this row; `.notAuthentic` for another row, context or master.
    package func open(_ sealed: [UInt8], row: [UInt8]) throws(CryptoFault) -> SecretBytes {
        guard !row.isEmpty else { throw .length }
        return try AESGCM.open(sealed, key: key, additional: row)
    }
}
