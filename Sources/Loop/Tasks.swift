// SPDX-License-Identifier: Apache-2.0
/// Starts a task on the reader's actor that never leaves the two threads: the runtime resumes a
/// task that waited on its preferred executor, and without one on a pool of threads.
@discardableResult
package func onReader<Value: Sendable>(
    _ operation: @escaping @Sendable @ReaderActor () async -> Value
) -> Task<Value, Never> {
    Task(executorPreference: ContextExecutor.reader) { await operation() }
}

/// Starts a task on the service's actor that never leaves the two threads, as `onReader` does.
@discardableResult
package func onService<Value: Sendable>(
    _ operation: @escaping @Sendable @ServiceActor () async -> Value
) -> Task<Value, Never> {
    Task(executorPreference: ContextExecutor.service) { await operation() }
}

/// Runs `body` on the reader's actor, in a task of its own, and waits for what it returns. The task is
/// cancelled when the caller's is.
///
/// A plain call would do the same, but slower: after each wait on the reader's thread the runtime
/// resumes a task on its preferred executor first, the service's, which sends it back.
@ServiceActor
package func runOnReader<Value: Sendable>(
    _ body: @escaping @Sendable @ReaderActor () async -> Value
) async -> Value {
    let running = RunningTask()
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            running.task = onReader { continuation.resume(returning: await body()) }
            if Task.isCancelled { running.task?.cancel() }
        }
    } onCancel: {
        onService { running.task?.cancel() }
    }
}

@ServiceActor
private final class RunningTask {
    var task: Task<Void, Never>?
}
