// SPDX-License-Identifier: Apache-2.0
import Posix

/// Fires once after a delay in which time asleep counts, unlike with `Timer`.
///
/// It does not fire if it is released or cancelled before.
package final class Alarm: Sendable {
    // Declared first, so that it is detached from the loop before the descriptor is closed.
    private let source = Source()
    private let time: BootTimer

    /// Runs `fire` on the service's thread after `delay`.
    ///
    /// - Throws: the fault of timerfd_create(2), such as EMFILE.
    @ServiceActor
    package init(
        after delay: Duration, fire: @escaping @ServiceActor () -> Void
    ) throws(SystemFault) {
        time = try BootTimer(after: delay)
        source.attach(to: .service, watching: time.descriptor.number, for: .readable) { _ in
            ServiceActor.assumeIsolated(fire)
            return false
        }
    }

    /// Cancels the alarm. Called on the service's thread, it guarantees that the alarm does not
    /// fire.
    package func cancel() {
        source.cancel()
    }
}
