// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import ServerAPI
import Synchronization

/// The credential and the factor that a key belongs to.
struct KeyName: Hashable, Sendable {
    let credential: CredentialID
    let factor: KeyFactor
}

/// Caches parsed public keys by their names: parsing a key costs as much as one verification.
///
/// The fingerprint key of a credential never changes, but its password key does, and so does whether
/// a key is still valid. So callers check in the transaction that decides that the key is the
/// registered one. The cache has two generations: when the newer
/// one is full, it becomes the older one, and the former older one is dropped.
final class KeyCache: Sendable {
    /// The maximum number of keys per generation; a key takes about 2 KB.
    private static let half = 2_048

    private struct Halves {
        var newer: [KeyName: P256PublicKey] = [:]
        var older: [KeyName: P256PublicKey] = [:]

        mutating func keep(_ key: P256PublicKey, as name: KeyName) {
            guard newer[name] == nil else { return }
            if newer.count >= half {
                older = newer
                newer = [:]
            }
            newer[name] = key
        }
    }

    private let halves = Mutex(Halves())

    /// Returns a key if it is cached, and moves it to the newer generation.
    func key(_ name: KeyName) -> P256PublicKey? {
        halves.withLock { halves -> P256PublicKey? in
            if let key = halves.newer[name] { return key }
            guard let key = halves.older[name] else { return nil }
            halves.keep(key, as: name)
            return key
        }
    }

    /// Forgets a key that was replaced.
    func forget(_ name: KeyName) {
        halves.withLock { halves in
            halves.newer[name] = nil
            halves.older[name] = nil
        }
    }

    /// Stores a key that has just verified a signature.
    ///
    /// Do not store any other key: strangers could then evict the keys of others.
    func keep(_ key: P256PublicKey, as name: KeyName) {
        halves.withLock { $0.keep(key, as: name) }
    }
}
