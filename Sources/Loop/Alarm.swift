// SPDX-License-Identifier: Apache-2.0
import Posix

/// Fires once after a delay that goes on while the machine sleeps, unless it is released or cancelled
/// before.
package final class Alarm: Sendable {
    // First, so that it has left the loop when the descriptor is closed.
    private let source = Source()
    private let time: BootTimer

    /// Runs `fire` on the service's thread after `delay`; throws where there is no descriptor left.
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

    /// Ends it: called on the service's thread, it never fires.
    package func cancel() {
        source.cancel()
    }
}
