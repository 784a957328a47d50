// SPDX-License-Identifier: Apache-2.0
import Posix

/// Fires once after a delay that includes time asleep, unlike that of a `Timer`.
///
/// It does not fire if it is released or cancelled before. If the machine is asleep when the delay
/// ends, it fires after waking.
package final class Alarm: Sendable {
    // Declared first, so that the source is detached from the loop before the descriptor is closed.
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

    /// Cancels the alarm.
    ///
    /// If this is called on the service's thread, the alarm is guaranteed not to fire.
    package func cancel() {
        source.cancel()
    }
}
