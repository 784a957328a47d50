// SPDX-License-Identifier: Apache-2.0
/// Fires once after a delay, never early; time that the machine spends asleep does not count.
///
/// It does not fire if it is released or cancelled before.
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

    /// Runs `fire` on the reader's thread after `delay`; a match on the host may delay it further.
    @ReaderActor
    package init(onReaderAfter delay: Duration, fire: @escaping @ReaderActor () -> Void) {
        source.attach(to: .reader) { _ in
            ReaderActor.assumeIsolated(fire)
            return false
        }
        source.ready(in: delay)
    }

    /// Cancels the timer.
    ///
    /// If this is called on the thread on which it would fire, it is guaranteed not to fire.
    package func cancel() {
        source.cancel()
    }

    /// Waits for `delay` on the service's thread; a delay of zero lets all other ready sources run
    /// once.
    ///
    /// - Throws: `CancellationError`, immediately when the task is cancelled.
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
