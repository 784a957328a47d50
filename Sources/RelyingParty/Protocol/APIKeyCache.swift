// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A calling application as it was last read, with the API key of the call.
struct AskingApplication: Sendable {
    let record: ApplicationRecord
    /// The key's digest; the key itself is never stored.
    let apiKey: [UInt8]
    /// The key's name.
    let name: String
    /// The key's scopes.
    let scopes: Set<Scope>
    /// The scopes of which the call requires one.
    let required: RequiredScopes

    init(_ key: APIKeyRecord, hash: [UInt8], required: RequiredScopes) {
        record = key.application
        apiKey = hash
        name = key.name
        scopes = key.state.scopes
        self.required = required
    }
}

/// Caches the API keys that were recently valid, so that most calls skip a query.
///
/// An entry is no evidence that the key is still valid: the transaction that decides a call asks
/// again (`Transaction.objection`). The cache is emptied when it reaches `most` entries.
final class APIKeyCache: Sendable {
    private static let most = 1_024
    private let known = Mutex<[[UInt8]: APIKeyRecord]>([:])

    func key(of hash: [UInt8]) -> APIKeyRecord? {
        known.withLock { $0[hash] }
    }

    /// Stores a key as the database returned it.
    func keep(_ key: APIKeyRecord, of hash: [UInt8]) {
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[hash] = key
        }
    }

    /// Removes an API key that turned out not to be valid.
    func forget(_ hash: [UInt8]) {
        known.withLock { $0[hash] = nil }
    }
}

/// The times at which API keys were last used, until they are stored.
///
/// A write for each call would cost more than the call; so each server stores them once a minute.
/// Only keys that are in the database are noted, which limits their number.
final class APIKeyUses: Sendable {
    /// A key, by its digest, and when it was last used, in seconds since 1970.
    struct Use: Equatable, Sendable {
        let key: [UInt8]
        let last: Int64
    }

    private let last = Mutex<[[UInt8]: Int64]>([:])

    func note(_ key: [UInt8], at now: Int64) {
        last.withLock { $0[key] = now }
    }

    /// Returns the uses since the last time, in the order of the keys' digests, and forgets them.
    func take() -> [Use] {
        let taken = last.withLock { last in
            defer { last = [:] }
            return last
        }
        return taken.map { Use(key: $0.key, last: $0.value) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// Restores uses that could not be stored.
    func putBack(_ uses: [Use]) {
        last.withLock { last in
            for use in uses { last[use.key] = max(last[use.key] ?? use.last, use.last) }
        }
    }
}
