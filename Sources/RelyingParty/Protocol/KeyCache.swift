// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import ServerAPI

/// The credential and the factor that a key belongs to.
struct KeyName: Hashable, Sendable {
    let credential: CredentialID
    let factor: KeyFactor
}

/// Caches parsed public keys by their names: parsing a key costs as much as one verification.
///
/// The fingerprint key of a credential never changes, but its password key does, and so does whether
/// a key is still valid. So callers check in the transaction that decides that the key is the
/// registered one.
final class KeyCache: Sendable {
    // A key takes about 2 KB.
    private let keys = ProvenItems<KeyName, P256PublicKey>(half: 2_048)

    /// Returns a key if it is cached.
    func key(_ name: KeyName) -> P256PublicKey? { keys.item(of: name) }

    /// Forgets a key that was replaced.
    func forget(_ name: KeyName) { keys.forget(name) }

    /// Stores a key that has just verified a signature.
    ///
    /// Do not store any other key: strangers could then evict the keys of others.
    func keep(_ key: P256PublicKey, as name: KeyName) { keys.keep(key, of: name) }
}
