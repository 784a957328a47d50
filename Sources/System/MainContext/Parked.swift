// SPDX-License-Identifier: Apache-2.0
/// A task that waits for an event on its own thread, and is resumed there once.
///
/// SAFETY: the continuation is used by the loop's thread alone and forgotten as it is resumed.
@safe final class Parked<Value: Sendable> {
    private var continuation: UnsafeContinuation<Value, Never>?
    /// A value that arrived before the wait began, because other jobs run during an await.
    private var early: Value?

    /// Resumes the waiting task, or the one that is about to wait; further calls have no effect.
    func resume(_ value: Value) {
        guard let waiting = unsafe continuation else {
            early = early ?? value
            return
        }
        unsafe continuation = nil
        unsafe waiting.resume(returning: value)
    }

    /// Waits for `resume`.
    ///
    /// `isolation` is captured to stay on the caller's thread, because the standard library's
    /// functions are not compiled with the caller's isolation as the default.
    ///
    /// - Parameters:
    ///   - start: Starts the work that leads to `resume`. It runs once the task is waiting, and not
    ///     if `resume` was already called.
    ///   - cancelled: Runs on any thread when the task is cancelled, and must lead to `resume` as
    ///     well.
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
