// SPDX-License-Identifier: Apache-2.0
/// Work that was begun before its result is needed, so that the caller can do something else
/// meanwhile.
///
/// The caller must wait for the result or cancel the work. Cancelled work still runs to its end, which
/// is then not waited for.
@ServiceActor
package final class Ahead<Value: Sendable> {
    private var value: Value?
    private var waiting: [CheckedContinuation<Value, Never>] = []
    private var task: Task<Void, Never>?

    private init() {}

    /// Begins `body`, and returns when that waits for something for the first time, or has ended.
    ///
    /// So what `body` asks of another process is under way when this returns.
    package static func begin(
        _ body: @escaping @ServiceActor () async -> Value
    ) async -> Ahead<Value> {
        let ahead = Ahead()
        ahead.task = onService { ahead.settle(await body()) }
        // Jobs run in the order in which they were queued.
        await withCheckedContinuation { continuation in
            _ = onService { continuation.resume() }
        }
        return ahead
    }

    /// Waits for the result; the work is cancelled with the caller's task.
    package func result() async -> Value {
        if let value { return value }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if let value { return continuation.resume(returning: value) }
                waiting.append(continuation)
            }
        } onCancel: {
            onService { self.cancel() }
        }
    }

    /// Cancels the work, unless it has ended.
    package func cancel() { task?.cancel() }

    private func settle(_ value: Value) {
        self.value = value
        task = nil
        let waiting = self.waiting
        self.waiting = []
        for continuation in waiting { continuation.resume(returning: value) }
    }
}
