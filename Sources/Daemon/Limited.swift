import Loop

/// Runs `body` and cancels it after `limit`, or when the caller's task is cancelled.
///
/// Tells what `body` returned, which it does soon after it is cancelled, and whether time ran out.
/// An interruption cancels it too.
@ServiceActor
func limited<Value: Sendable>(
    to limit: Duration, interruption: Interruption? = nil,
    _ body: @escaping @ServiceActor () async -> Value
) async -> (value: Value, expired: Bool) {
    let run = LimitedRun()
    interruption?.action = { run.task?.cancel() }
    let timer = Timer(after: limit) { run.expire() }
    defer { timer.cancel() }
    let value = await withTaskCancellationHandler {
        // Not by the task's value: whoever waits for that is resumed on a pool of threads.
        await withCheckedContinuation { continuation in
            run.task = onService { continuation.resume(returning: await body()) }
            if Task.isCancelled || interruption?.isRaised == true { run.task?.cancel() }
        }
    } onCancel: {
        onService { run.task?.cancel() }
    }
    return (value, run.isExpired)
}

/// Ends something early, once, whether it has begun or not.
@ServiceActor
final class Interruption {
    fileprivate var action: (() -> Void)?
    fileprivate private(set) var isRaised = false

    /// Cancels what is limited by it.
    func raise() {
        isRaised = true
        action?()
    }
}

@ServiceActor
private final class LimitedRun {
    var task: Task<Void, Never>?
    private(set) var isExpired = false

    func expire() {
        isExpired = true
        task?.cancel()
    }
}
