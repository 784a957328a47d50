// SPDX-License-Identifier: Apache-2.0
import CGLib
import Synchronization

/// Runs the two main contexts: the reader's on one thread, the service's on another.
package enum MainLoop {
    // SAFETY: made once, never freed; GLib locks them, and they are only run and quit.
    private nonisolated(unsafe) static let reader =
        unsafe g_main_loop_new(ContextExecutor.reader.context, 0)
    // SAFETY: as above.
    private nonisolated(unsafe) static let service =
        unsafe g_main_loop_new(ContextExecutor.service.context, 0)

    /// Runs the reader's context on the calling thread and the service's on its own thread.
    ///
    /// Returns after `quit()`, when both have stopped and the service's thread has ended.
    package static func run() {
        let thread = unsafe startService()
        unsafe g_main_loop_run(reader)
        onService { unsafe g_main_loop_quit(service) }
        unsafe g_thread_join(thread)
    }

    /// Makes `run()` return after the reader's jobs queued before this call have run.
    ///
    /// It may be called from any thread, even before `run()`.
    package static func quit() {
        onReader { unsafe g_main_loop_quit(reader) }
    }

    /// Calls `run()` on a new thread, for processes whose main thread is not available.
    ///
    /// Only the first call has an effect.
    package static func runInBackground() {
        background
    }

    private static let background: Void = {
        let thread = unsafe g_thread_new(
            "reader",
            { _ in
                MainLoop.run()
                return nil
            }, nil)
        unsafe g_thread_unref(thread)
    }()

    /// For how long the service's thread has waited for something to do, without the present wait; the
    /// time for which the machine slept meanwhile counts.
    package static var idle: Duration { .nanoseconds(waited.load(ordering: .relaxed)) }

    private static let waited = Atomic<Int64>(0)

    private static func startService() -> UnsafeMutablePointer<GThread>? {
        unsafe g_main_context_set_poll_func(ContextExecutor.service.context) {
            files, count, limit in
            let begin = ContinuousClock.now
            let ready = unsafe g_poll(files, count, limit)
            let (seconds, attoseconds) = (ContinuousClock.now - begin).components
            MainLoop.waited.add(
                seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
            return ready
        }
        return unsafe startLoop()
    }

    private static func startLoop() -> UnsafeMutablePointer<GThread>? {
        unsafe g_thread_new(
            "service",
            { _ in
                // GIO delivers results to the context that is the thread's default at the time of
                // the call.
                unsafe g_main_context_push_thread_default(ContextExecutor.service.context)
                unsafe g_main_loop_run(MainLoop.service)
                unsafe g_main_context_pop_thread_default(ContextExecutor.service.context)
                return nil
            }, nil)
    }
}
