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

    /// Waits for `delay` on the calling actor, which must be one of the two, or until the task is
    /// cancelled: then at once, and throws.
    package static func sleep(
        for delay: Duration, isolation: isolated (any Actor)? = #isolation
    ) async throws(CancellationError) {
        guard let context = ContextExecutor.current else {
            preconditionFailure("sleep on a thread without a main context")
        }
        let source = Source()
        let parked = Parked<Void>()
        source.attach(to: context) { _ in
            parked.resume(())
            return false
        }
        source.ready(in: delay)
        await parked.wait { source.ready() }
        if Task.isCancelled { throw CancellationError() }
    }
}
