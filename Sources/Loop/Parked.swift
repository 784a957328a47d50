/// A task that waits for something its own thread will do: resumed once, from that thread.
///
/// SAFETY: the continuation is used by the loop's thread alone and forgotten as it is resumed.
@safe final class Parked<Value: Sendable> {
    private var continuation: UnsafeContinuation<Value, Never>?

    /// Resumes the waiting task; a second call does nothing.
    func resume(_ value: Value) {
        guard let waiting = unsafe continuation else { return }
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
                unsafe continuation = waiting
                start()
            }
        } onCancel: {
            cancelled()
        }
    }
}
