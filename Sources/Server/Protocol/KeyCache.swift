// SPDX-License-Identifier: Apache-2.0
import Crypto
import Synchronization

/// Public keys that are ready to verify, by credential: to make one of its point takes as long as
/// a verification.
///
/// The key of a credential never changes; whoever takes one from here still asks the database
/// whether it is good now. Of two halves the older one goes when the newer is full.
final class KeyCache: Sendable {
    /// How many keys a half has at most, each of about 2 KB.
    private static let half = 2_048

    private struct Halves {
        var newer: [[UInt8]: P256PublicKey] = [:]
        var older: [[UInt8]: P256PublicKey] = [:]

        mutating func keep(_ key: P256PublicKey, of credential: [UInt8]) {
            guard newer[credential] == nil else { return }
            if newer.count >= half {
                older = newer
                newer = [:]
            }
            newer[credential] = key
        }
    }

    private let halves = Mutex(Halves())

    /// The key of a credential, if it is here.
    func key(of credential: [UInt8]) -> P256PublicKey? {
        halves.withLock { halves -> P256PublicKey? in
            if let key = halves.newer[credential] { return key }
            guard let key = halves.older[credential] else { return nil }
            halves.keep(key, of: credential)
            return key
        }
    }

    /// Keeps a key that has just verified something: so strangers cannot push others out.
    func keep(_ key: P256PublicKey, of credential: [UInt8]) {
        halves.withLock { $0.keep(key, of: credential) }
    }
}
