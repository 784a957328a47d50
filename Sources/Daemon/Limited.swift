import Loop

/// Runs `body` and cancels it after `limit`, or when the caller's task is cancelled.
///
/// Tells what `body` returned, which it does soon after it is cancelled, and whether time ran out.
@ServiceActor
func limited<Value: Sendable>(
    to limit: Duration, _ body: @escaping @ServiceActor () async -> Value
) async -> (value: Value, expired: Bool) {
    var expired = false
    let task = Task { await body() }
    let timer = Timer(after: limit) {
        expired = true
        task.cancel()
    }
    defer { timer.cancel() }
    let value = await withTaskCancellationHandler {
        await task.value
    } onCancel: {
        task.cancel()
    }
    return (value, expired)
}
