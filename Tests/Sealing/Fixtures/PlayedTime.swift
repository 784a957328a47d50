// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// A clock that a test moves.
final class PlayedTime: Sendable {
    private let passed = Mutex(Duration.zero)

    func pass(_ time: Duration) { passed.withLock { $0 += time } }

    var clock: Clock {
        Clock(
            boot: Clock.system.boot,
            sinceBoot: { self.passed.withLock { $0 } }, wallSeconds: Clock.system.wallSeconds)
    }
}
