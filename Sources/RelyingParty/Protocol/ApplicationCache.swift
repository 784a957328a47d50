// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A calling application as it was last read, with the API key of the call.
struct AskingApplication: Sendable {
    let record: ApplicationRecord
    /// The key's digest; the key itself is never stored.
    let apiKey: [UInt8]
}

/// Caches the application of each API key that was recently valid, so that most calls skip a query.
///
/// An entry is no evidence that the key is still valid: the transaction that decides a call asks
/// `ApplicationRows.holds(apiKey:)` again. The cache is emptied when it reaches `most` entries.
final class ApplicationCache: Sendable {
    private static let most = 1_024
    private let known = Mutex<[[UInt8]: ApplicationRecord]>([:])

    func application(of apiKey: [UInt8]) -> ApplicationRecord? {
        known.withLock { $0[apiKey] }
    }

    /// Stores the application that the database returned for an API key.
    func keep(_ application: ApplicationRecord, of apiKey: [UInt8]) {
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[apiKey] = application
        }
    }

    /// Removes an API key that turned out to be revoked.
    func forget(_ apiKey: [UInt8]) {
        known.withLock { $0[apiKey] = nil }
    }
}
