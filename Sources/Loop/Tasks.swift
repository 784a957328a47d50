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
