// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Lets the first of two threads wait for the second, once; later ones pass.
final class Rendezvous: Sendable {
    private let arrived = Mutex(0)
    private let second = DispatchSemaphore(value: 0)

    /// How often a task came.
    var meetings: Int { arrived.withLock { $0 } }

    func meet() {
        let number = arrived.withLock { arrived in
            arrived += 1
            return arrived
        }
        if number == 1 { second.wait() }
        if number == 2 { second.signal() }
    }
}
