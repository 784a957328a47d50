// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix

/// Which password an account had, without telling it: to notice that it was changed, whoever did.
///
/// HMAC-SHA256 over the hash in the account's shadow(5) entry, under a key derived from the host
/// secret and the item that it is kept with, joined to name and day of change: HKDF, RFC 5869.
package struct PasswordState: Equatable, Sendable {
    /// The number of bytes of a digest.
    package static let count = 32
    /// 32 bytes; nil where the account's password is not kept in shadow(5) on this machine.
    package let digest: [UInt8]?

    /// What was read from disk; nil unless a digest has 32 bytes.
    package init?(digest: [UInt8]?) {
        guard digest.map({ $0.count == PasswordState.count }) ?? true else { return nil }
        self.digest = digest
    }

    /// The state that an entry stands for; `item` is the id of what it is kept with, 16 bytes.
    package init(
        of entry: ShadowEntry?, account: [UInt8], item: [UInt8], host: HostSecret
    ) throws(VaultError) {
        guard let entry else {
            digest = nil
            return
        }
        var fields = LengthPrefixed(label: "signet password state 1")
        fields.append(account)
        fields.append(UInt64(bitPattern: Int64(entry.changed)))
        let info = fields.bytes
        let derived = try crypto { () throws(CryptoFault) in
            var key = try HKDF.derive(
                from: host.secret, salt: item, info: Array("signet password key 1".utf8),
                count: PasswordState.count
            ).withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
            defer { wipe(&key) }
            return try HKDF.derive(
                from: entry.hash, salt: key, info: info, count: PasswordState.count)
        }
        digest = derived.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
    }

    /// Whether both are the same, in a time that does not depend on the digests.
    package func equals(_ other: PasswordState) -> Bool {
        switch (digest, other.digest) {
        case (nil, nil): true
        case (let mine?, let theirs?): constantTimeEqual(mine, theirs)
        case (nil, _?), (_?, nil): false
        }
    }
}
