// SPDX-License-Identifier: Apache-2.0
/// A result that arrives later on the reader's actor, for any number of waiting tasks.
///
/// Each of them is resumed on its own actor. Awaiting a task's value would resume it on the global
/// executor instead, which starts a pool of threads and costs two more hops.
@ReaderActor
package final class Pending<Value: Sendable> {
    private var value: Value?
    private var waiting: [CheckedContinuation<Value, Never>] = []

    /// Creates a result that has not arrived.
    package init() {}

    /// Delivers the result to all tasks that wait now or later; only the first call has an effect.
    package func settle(_ value: Value) {
        guard self.value == nil else { return }
        self.value = value
        let waiting = self.waiting
        self.waiting = []
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// Waits for the result; cancelling the task does not end the wait.
    package func wait() async -> Value {
        if let value { return value }
        return await withCheckedContinuation { continuation in
            // It may have arrived by now, because other jobs run during an await, even on the same
            // actor.
            if let value { return continuation.resume(returning: value) }
            waiting.append(continuation)
        }
    }
}
