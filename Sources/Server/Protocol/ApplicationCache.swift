// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// An application that asks, as it was known, and the API key it came with.
struct AskingApplication: Sendable {
    let record: ApplicationRecord
    /// The digest of the key.
    let apiKey: [UInt8]
}

/// Applications by the digest of an API key that held once: whether it holds now is asked in the
/// transaction that decides.
final class ApplicationCache: Sendable {
    private static let most = 1_024
    private let known = Mutex<[[UInt8]: ApplicationRecord]>([:])

    /// The application of a key, if it is here.
    func application(of apiKey: [UInt8]) -> ApplicationRecord? {
        known.withLock { $0[apiKey] }
    }

    /// Keeps what the database said.
    func keep(_ application: ApplicationRecord, of apiKey: [UInt8]) {
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[apiKey] = application
        }
    }

    /// Forgets a key that does not hold any more.
    func forget(_ apiKey: [UInt8]) {
        known.withLock { $0[apiKey] = nil }
    }
}
