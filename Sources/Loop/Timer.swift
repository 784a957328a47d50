// SPDX-License-Identifier: Apache-2.0
/// Fires once after a delay, unless it is released or cancelled before. Wakes nobody early.
package final class Timer: Sendable {
    private let source = Source()

    /// Runs `fire` on the service's thread after `delay`.
    @ServiceActor
    package init(after delay: Duration, fire: @escaping @ServiceActor () -> Void) {
        source.attach(to: .service) { _ in
            ServiceActor.assumeIsolated(fire)
            return false
        }
        source.ready(in: delay)
    }

    /// Runs `fire` on the reader's thread after `delay`; a match on the host may hold it up.
    @ReaderActor
    package init(onReaderAfter delay: Duration, fire: @escaping @ReaderActor () -> Void) {
        source.attach(to: .reader) { _ in
            ReaderActor.assumeIsolated(fire)
            return false
        }
        source.ready(in: delay)
    }

    /// Ends the timer: called on the thread it would fire on, it never fires.
    package func cancel() {
        source.cancel()
    }

    /// Waits for `delay` on the service's thread, or until the task is cancelled: then at once, and
    /// throws. Without a delay it lets everything else that is ready have its turn.
    @ServiceActor
    package static func sleep(for delay: Duration) async throws(CancellationError) {
        let source = Source()
        let parked = Parked<Void>()
        source.attach(to: .service) { _ in
            parked.resume(())
            return false
        }
        source.ready(in: delay)
        await parked.wait { source.ready() }
        if Task.isCancelled { throw CancellationError() }
    }
}
