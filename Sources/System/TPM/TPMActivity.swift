// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// When a TPM last answered: it tells one that is slow from one that is dead.
///
/// A slow chip takes a second for each of several commands, and each answer shows that it works.
package final class TPMActivity: Sendable {
    private let answered = Mutex<SuspendingClock.Instant?>(nil)

    /// Creates the activity of a TPM that has not answered yet.
    package init() {}

    /// When the last command was answered, with whatever code; nil if none was.
    package var lastAnswer: SuspendingClock.Instant? { answered.withLock { $0 } }

    func noteAnswer() { answered.withLock { $0 = .now } }
}
