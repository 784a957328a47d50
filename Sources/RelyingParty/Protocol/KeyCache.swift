// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Synchronization

/// Caches parsed public keys by credential id: parsing a key costs as much as one verification.
///
/// The key of a credential never changes, but whether it is still valid does, so callers check that
/// in the database, in the transaction that decides. The cache has two generations: when the newer
/// one is full, it becomes the older one, and the former older one is dropped.
final class KeyCache: Sendable {
    /// The maximum number of keys per generation; a key takes about 2 KB.
    private static let half = 2_048

    private struct Halves {
        var newer: [CredentialID: P256PublicKey] = [:]
        var older: [CredentialID: P256PublicKey] = [:]

        mutating func keep(_ key: P256PublicKey, of credential: CredentialID) {
            guard newer[credential] == nil else { return }
            if newer.count >= half {
                older = newer
                newer = [:]
            }
            newer[credential] = key
        }
    }

    private let halves = Mutex(Halves())

    /// Returns a credential's key if it is cached, and moves it to the newer generation.
    func key(of credential: CredentialID) -> P256PublicKey? {
        halves.withLock { halves -> P256PublicKey? in
            if let key = halves.newer[credential] { return key }
            guard let key = halves.older[credential] else { return nil }
            halves.keep(key, of: credential)
            return key
        }
    }

    /// Stores a key that has just verified a signature.
    ///
    /// Do not store any other key: strangers could then evict the keys of others.
    func keep(_ key: P256PublicKey, of credential: CredentialID) {
        halves.withLock { $0.keep(key, of: credential) }
    }
}
