// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix

/// Seals the secrets of MAC tokens at rest, with AES-256-GCM under a key derived from the host
/// secret.
///
/// Opening a secret needs no finger, because a MAC proves that the device is present, not that
/// someone touched it. Each secret is bound to its account, uid and all other fields of its record,
/// so a file that was altered, or moved to another account, does not open.
package struct MACTokenSeal: Sendable {
    /// The length of a token's secret in bytes.
    package static let secretCount = 32
    /// The length of a sealed secret in bytes.
    package static let sealedCount = secretCount + AESGCM.overhead

    private let key: SecretBytes

    /// Derives the key that seals all MAC tokens of this machine.
    package init(host: HostSecret) throws(VaultError) {
        key = try crypto { () throws(CryptoFault) in
            try HKDF.derive(
                from: host.secret, salt: [], info: Array("signet mac tokens 1".utf8),
                count: AESGCM.keyCount)
        }
    }

    /// Seals a secret of 32 bytes, bound to the account and to `record`.
    ///
    /// `record` holds all other fields of the token's record in encoded form. Throws `.malformed`
    /// for a secret of any other length.
    package func seal(
        _ secret: SecretBytes, account: AccountName, uid: UInt32, record: [UInt8]
    ) throws(VaultError) -> [UInt8] {
        guard secret.count == Self.secretCount else { throw .malformed }
        let bound = Self.bound(account, uid: uid, record: record)
        return try crypto { () throws(CryptoFault) in
            try AESGCM.seal(secret, key: key, additional: bound)
        }
    }

    /// Opens a secret, given the same account, uid and encoded record as when it was sealed.
    ///
    /// Throws `.doesNotOpen` if any of them is different, or if the bytes were altered.
    package func open(
        _ sealed: [UInt8], account: AccountName, uid: UInt32, record: [UInt8]
    ) throws(VaultError) -> SecretBytes {
        guard sealed.count == Self.sealedCount else { throw .doesNotOpen }
        let bound = Self.bound(account, uid: uid, record: record)
        return try crypto { () throws(CryptoFault) in
            try AESGCM.open(sealed, key: key, additional: bound)
        }
    }

    private static func bound(_ account: AccountName, uid: UInt32, record: [UInt8]) -> [UInt8] {
        var fields = LengthPrefixed(label: "signet mac token 1")
        fields.append(account.bytes)
        fields.append(UInt64(uid))
        fields.append(record)
        return fields.bytes
    }
}
