// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix

/// A digest of an account's password hash, used to notice that the password has changed.
///
/// It is HKDF-SHA256 (RFC 5869) of the password hash in the account's shadow(5) entry. The salt is
/// a key derived from the host secret and the id of the item that the digest is stored with; the
/// info is the account's name and the day of the last change. The digest reveals nothing about the
/// password without the host secret, and two items with the same password have different digests.
package struct PasswordState: Equatable, Sendable {
    /// The length of a digest in bytes.
    package static let count = 32
    /// The digest, 32 bytes; nil if the account has no entry in shadow(5) on this machine.
    package let digest: [UInt8]?

    /// Creates a state from stored values.
    ///
    /// Returns nil unless the digest is nil or has 32 bytes.
    package init?(digest: [UInt8]?) {
        guard digest.map({ $0.count == PasswordState.count }) ?? true else { return nil }
        self.digest = digest
    }

    /// Computes the state of a shadow(5) entry; without an entry the digest is nil.
    ///
    /// `item` is the id of the item that the digest is stored with.
    package init(
        of entry: ShadowEntry?, account: AccountName, item: some FixedBytes, host: HostSecret
    ) throws(VaultError) {
        guard let entry else {
            digest = nil
            return
        }
        var fields = LengthPrefixed(label: "signet password state 1")
        fields.append(account.bytes)
        fields.append(UInt64(bitPattern: Int64(entry.changed)))
        let info = fields.bytes
        let derived = try crypto { () throws(CryptoFault) in
            var key = try HKDF.derive(
                from: host.secret, salt: item.bytes, info: Array("signet password key 1".utf8),
                count: PasswordState.count
            ).withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
            defer { wipe(&key) }
            return try HKDF.derive(
                from: entry.hash, salt: key, info: info, count: PasswordState.count)
        }
        digest = derived.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
    }

    /// Whether two states are equal.
    ///
    /// Two digests are compared in constant time. An absent digest equals only another absent one.
    package func equals(_ other: PasswordState) -> Bool {
        switch (digest, other.digest) {
        case (nil, nil): true
        case (let mine?, let theirs?): constantTimeEqual(mine, theirs)
        case (nil, _?), (_?, nil): false
        }
    }
}
