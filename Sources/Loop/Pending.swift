// SPDX-License-Identifier: Apache-2.0
/// A result on the reader's actor that comes later, for any number of waiters.
///
/// Each is resumed on its own actor. Awaiting a task's value would resume it on the global
/// executor instead, which starts a pool of threads and costs two more hops.
@ReaderActor
package final class Pending<Value: Sendable> {
    private var value: Value?
    private var waiting: [CheckedContinuation<Value, Never>] = []

    /// A result that has not come.
    package init() {}

    /// Gives the result to all who wait and to all who will ask; only the first one counts.
    package func settle(_ value: Value) {
        guard self.value == nil else { return }
        self.value = value
        let waiting = self.waiting
        self.waiting = []
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// The result, when it is there.
    package func wait() async -> Value {
        if let value { return value }
        return await withCheckedContinuation { continuation in
            // Other jobs may have had their turn since: an await is one, also on its own actor.
            if let value { return continuation.resume(returning: value) }
            waiting.append(continuation)
        }
    }
}
