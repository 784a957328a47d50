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

    private static let longestWait = 10

    /// An open lock.
    package init() {}

    /// Whether it is locked.
    package var isLocked: Bool { digest != nil }

    /// Locks; false if it is locked already, or libcrypto fails.
    package mutating func lock(_ passphrase: [UInt8]) -> Bool {
        guard digest == nil, let made = try? PassphraseDigest(of: passphrase) else { return false }
        digest = made
        failures = 0
        nextTry = .zero
        return true
    }

    /// Opens again what was locked just now.
    package mutating func takeBack() { digest = nil }

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
