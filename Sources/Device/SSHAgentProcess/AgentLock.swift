// SPDX-License-Identifier: Apache-2.0
import Crypto

/// The agent's lock, with a passphrase of which only a digest is kept.
///
/// Each wrong passphrase makes the next one wait a second longer, up to ten; until then, even the right
/// one is refused unread.
package struct AgentLock: Sendable {
    private var digest: PassphraseDigest?
    private var failures = 0
    private var nextTry = Duration.zero
    private var locks = 0

    private static let longestWait = 10

    /// An open lock.
    package init() {}

    /// Whether it is locked.
    package var isLocked: Bool { digest != nil }

    /// Locks, and returns a number for `takeBack`; nil if it is locked already, or libcrypto fails.
    package mutating func lock(_ passphrase: [UInt8]) -> Int? {
        guard digest == nil, let made = try? PassphraseDigest(of: passphrase) else { return nil }
        digest = made
        failures = 0
        nextTry = .zero
        locks += 1
        return locks
    }

    /// Undoes a lock, unless it was opened and locked again since.
    package mutating func takeBack(_ number: Int) {
        if number == locks { digest = nil }
    }

    /// Unlocks if the passphrase is the one that it was locked with; false otherwise.
    ///
    /// - Parameter now: the time since boot.
    package mutating func unlock(_ passphrase: [UInt8], at now: Duration) -> Bool {
        guard let digest, now >= nextTry else { return false }
        guard (try? digest.matches(passphrase)) == true else {
            failures += 1
            nextTry = now + .seconds(min(failures, Self.longestWait))
            return false
        }
        self.digest = nil
        return true
    }
}
