// SPDX-License-Identifier: Apache-2.0
/// Runs `body`, and cancels it after `limit` or when the caller's task is cancelled.
///
/// The caller waits for `body` in any case, so `body` must end soon after it is cancelled.
///
/// - Returns: The result of `body`, and whether the time ran out.
@ServiceActor
package func limited<Value: Sendable>(
    to limit: Duration, _ body: @escaping @ServiceActor () async -> Value
) async -> (value: Value, expired: Bool) {
    let interruption = Interruption()
    var expired = false
    let timer = Timer(after: limit) {
        expired = true
        interruption.raise()
    }
    defer { timer.cancel() }
    let value = await interruptible(by: interruption, body)
    return (value, expired)
}

/// Runs `body`, and cancels it when the interruption is raised or the caller's task is cancelled.
@ServiceActor
package func interruptible<Value: Sendable>(
    by interruption: Interruption, _ body: @escaping @ServiceActor () async -> Value
) async -> Value {
    await withTaskCancellationHandler {
        // The task's value is not awaited, because that would resume this task on a pool of
        // threads.
        await withCheckedContinuation { continuation in
            interruption.task = onService { continuation.resume(returning: await body()) }
            if Task.isCancelled || interruption.isRaised { interruption.task?.cancel() }
        }
    } onCancel: {
        onService { interruption.raise() }
    }
}

/// Waits until the caller's task is cancelled.
@ServiceActor
package func untilCancelled() async {
    let waiting = Waiting()
    await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            if Task.isCancelled { return continuation.resume() }
            waiting.continuation = continuation
        }
    } onCancel: {
        onService { waiting.end() }
    }
}

@ServiceActor
private final class Waiting {
    var continuation: CheckedContinuation<Void, Never>?

    func end() {
        continuation?.resume()
        continuation = nil
    }
}

/// Cancels the body of `interruptible`, whether that has started or not.
@ServiceActor
package final class Interruption {
    fileprivate var task: Task<Void, Never>?
    /// Whether `raise` was called.
    package private(set) var isRaised = false

    /// Creates an interruption that has not been raised.
    package init() {}

    /// Cancels the body that runs in `interruptible`, or that will run there later.
    package func raise() {
        isRaised = true
        task?.cancel()
    }
}

/// Runs `body` and returns its result; nil if that takes longer than `limit`.
///
/// Unlike with `limited`, the caller then continues at once. `body` is not cancelled, and its
/// result is discarded.
///
/// - Parameters:
///   - longest: the limit after all extensions.
///   - isAtWork: asked each time that `limit` has passed; true grants another `limit`, because what is
///     awaited is slow, and not dead.
@ServiceActor
package func unlessLate<Value: Sendable>(
    _ limit: Duration, longest: Duration = .seconds(90),
    extendedIf isAtWork: @escaping @ServiceActor () async -> Bool = { false },
    _ body: @escaping @ServiceActor () async -> Value
) async -> Value? {
    let first = FirstResult<Value>()
    let end = ContinuousClock.now + longest
    defer { first.timer = nil }
    func watch() {
        first.timer = Timer(after: limit) {
            onService {
                if await isAtWork(), ContinuousClock.now < end, first.continuation != nil {
                    watch()
                } else {
                    first.settle(nil)
                }
            }
        }
    }
    return await withCheckedContinuation { continuation in
        first.continuation = continuation
        watch()
        onService { first.settle(await body()) }
    }
}

/// Passes on the first result and ignores later ones.
@ServiceActor
private final class FirstResult<Value: Sendable> {
    var continuation: CheckedContinuation<Value?, Never>?
    var timer: Timer?

    func settle(_ value: Value?) {
        continuation?.resume(returning: value)
        continuation = nil
    }
}
