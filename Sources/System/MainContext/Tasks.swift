// SPDX-License-Identifier: Apache-2.0
/// Starts a task on the reader's actor whose continuations all run on the two loops' threads.
///
/// The runtime resumes a waiting task on its preferred executor; without one, it would use a pool
/// of threads.
@discardableResult
package func onReader<Value: Sendable>(
    _ operation: @escaping @Sendable @ReaderActor () async -> Value
) -> Task<Value, Never> {
    Task(executorPreference: ContextExecutor.reader) { await operation() }
}

/// Starts a task on the service's actor whose continuations all run on the two loops' threads.
@discardableResult
package func onService<Value: Sendable>(
    _ operation: @escaping @Sendable @ServiceActor () async -> Value
) -> Task<Value, Never> {
    Task(executorPreference: ContextExecutor.service) { await operation() }
}

/// Runs `body` on the reader's actor, in a separate task, and waits for its result.
///
/// The task is cancelled with the caller's. A plain call would have the same effect but be slower:
/// after each wait on the reader's thread, the runtime would first resume the task on its preferred
/// executor, the service's, which would send it back.
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
