// SPDX-License-Identifier: Apache-2.0
/// A task that waits for something its own thread will do: resumed once, from that thread.
///
/// SAFETY: the continuation is used by the loop's thread alone and forgotten as it is resumed.
@safe final class Parked<Value: Sendable> {
    private var continuation: UnsafeContinuation<Value, Never>?
    /// What came before anybody waited: an await lets other jobs have their turn first.
    private var early: Value?

    /// Resumes the waiting task, or the one that will wait; a second call does nothing.
    func resume(_ value: Value) {
        guard let waiting = unsafe continuation else {
            early = early ?? value
            return
        }
        unsafe continuation = nil
        unsafe waiting.resume(returning: value)
    }

    /// Waits for `resume`, after `start` has set in motion what leads to it. `cancelled` runs on
    /// any thread when the task is cancelled, and has to lead to `resume` too.
    ///
    /// The closure names `isolation` to stay on the caller's thread: the library's own functions
    /// are not compiled with callers' isolation as the default.
    func wait(
        isolation: isolated (any Actor)? = #isolation,
        start: () -> Void = {}, cancelled: @Sendable () -> Void
    ) async -> Value {
        await withTaskCancellationHandler {
            _ = isolation
            return unsafe await withUnsafeContinuation { waiting in
                if let early { return unsafe waiting.resume(returning: early) }
                unsafe continuation = waiting
                start()
            }
        } onCancel: {
            cancelled()
        }
    }
}
