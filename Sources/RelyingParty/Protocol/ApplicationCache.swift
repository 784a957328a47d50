// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A calling application as it was last read, with the API key of its call.
struct AskingApplication: Sendable {
    let record: ApplicationRecord
    /// The key's digest; the key itself is never stored.
    let apiKey: [UInt8]
}

/// Remembers which application each valid API key belongs to, so that most calls skip one query.
///
/// An entry is not evidence that the key is still valid: the transaction that decides a call asks
/// `ApplicationRows.holds(apiKey:)` again. The cache is emptied when it reaches `most` entries.
final class ApplicationCache: Sendable {
    private static let most = 1_024
    private let known = Mutex<[[UInt8]: ApplicationRecord]>([:])

    func application(of apiKey: [UInt8]) -> ApplicationRecord? {
        known.withLock { $0[apiKey] }
    }

    /// Stores what the database returned for a key.
    func keep(_ application: ApplicationRecord, of apiKey: [UInt8]) {
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[apiKey] = application
        }
    }

    /// Removes a key that was found to be revoked.
    func forget(_ apiKey: [UInt8]) {
        known.withLock { $0[apiKey] = nil }
    }
}
