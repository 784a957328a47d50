// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix

/// Authenticates a record and its location: proves that this machine wrote it there.
///
/// The mark is GMAC (NIST SP 800-38D): AES-256-GCM of an empty text, with the record and its
/// location as additional data, under a key derived from the host secret. It detects records that
/// were altered, swapped or copied from another machine. It does not detect an older version of the
/// same record, does not depend on fingers, and encrypts nothing.
package struct RecordMark: Sendable {
    /// The length of a mark in bytes.
    package static let count = AESGCM.overhead

    private let key: SecretBytes

    /// Derives the key for all marks of this machine.
    package init(host: HostSecret) throws(VaultError) {
        key = try crypto { () throws(CryptoFault) in
            try HKDF.derive(
                from: host.secret, salt: [], info: Array("signet record marks 1".utf8),
                count: AESGCM.keyCount)
        }
    }

    /// Returns the mark of a record of an account, in the file with this id.
    package func make(
        _ record: [UInt8], account: AccountName, uid: UInt32, item: some FixedBytes
    ) throws(VaultError) -> [UInt8] {
        let place = Self.place(record, account: account, uid: uid, item: item)
        return try crypto { () throws(CryptoFault) in
            try AESGCM.seal(try nothing(), key: key, additional: place)
        }
    }

    /// Verifies a mark.
    ///
    /// Throws `.doesNotOpen` unless it was made for exactly this record and location.
    package func check(
        _ mark: [UInt8], record: [UInt8], account: AccountName, uid: UInt32, item: some FixedBytes
    ) throws(VaultError) {
        guard mark.count == Self.count else { throw .doesNotOpen }
        let place = Self.place(record, account: account, uid: uid, item: item)
        _ = try crypto { () throws(CryptoFault) in
            try AESGCM.open(mark, key: key, additional: place)
        }
    }

    private static func place(
        _ record: [UInt8], account: AccountName, uid: UInt32, item: some FixedBytes
    ) -> [UInt8] {
        var fields = LengthPrefixed(label: "signet record 1")
        fields.append(account.bytes)
        fields.append(UInt64(uid))
        fields.append(item.bytes)
        fields.append(record)
        return fields.bytes
    }

    private func nothing() throws(CryptoFault) -> SecretBytes {
        do throws(SystemFault) {
            return try SecretBytes(count: 0) { _ in }
        } catch { throw .memory }
    }
}
