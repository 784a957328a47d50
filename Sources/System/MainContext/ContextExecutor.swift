// SPDX-License-Identifier: Apache-2.0
import CGLib
import Synchronization

/// Runs Swift jobs on the thread that iterates a GLib main context, in the order of their arrival.
///
/// As the preferred executor of a task, it also runs the parts that the Swift runtime resumes on no
/// actor, which happens after each wait; otherwise the runtime would start a pool of threads for
/// them. While no job is queued it costs nothing, because its source has no ready time.
///
/// SAFETY: `context` is a reference held for the process's life and is only passed to GLib calls
/// that lock it; every other property is immutable or behind the mutex.
@safe package final class ContextExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// The executor of the default main context, which libfprint itself iterates.
    package static let reader = unsafe ContextExecutor(g_main_context_default())

    /// The executor of a private context, which a busy reader cannot block.
    package static let service = unsafe ContextExecutor(g_main_context_new())

    /// The executor whose context the calling thread is running; nil for other threads.
    package static var current: ContextExecutor? {
        if service.isIsolatingCurrentContext() == true { return service }
        return reader.isIsolatingCurrentContext() == true ? reader : nil
    }

    /// The number of batches of jobs that run before other sources get their turn.
    private static let rounds = 16

    let context: OpaquePointer?
    private let source = Source()
    private let jobs = Mutex<[UnownedJob]>([])

    private init(_ context: OpaquePointer?) {
        unsafe self.context = unsafe context
        source.attach(to: self) { [unowned self] _ in
            drain()
            return true
        }
    }

    /// Queues a job; it may be called from any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { jobs in
            if jobs.isEmpty { source.ready() }
            jobs.append(job)
        }
    }

    /// Traps unless the calling thread is running this context (`g_main_context_is_owner`).
    package func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "not on this context's thread")
    }

    /// Whether the calling thread is running this context (`g_main_context_is_owner`).
    package func isIsolatingCurrentContext() -> Bool? {
        unsafe g_main_context_is_owner(context) != 0
    }

    /// Runs the queued jobs.
    ///
    /// The source's ready time is cleared only when the queue is seen to be empty under the lock,
    /// so that no wake-up is lost.
    private func drain() {
        // The job runs on both kinds of executor, so that a task which prefers this one can
        // continue without a hop.
        let executor = unsafe asUnownedSerialExecutor()
        let preference = unsafe asUnownedTaskExecutor()
        for _ in 0..<Self.rounds {
            var batch: [UnownedJob] = []
            jobs.withLock { jobs in
                if jobs.isEmpty { source.rest() }
                swap(&batch, &jobs)
            }
            if batch.isEmpty { return }
            for job in batch {
                unsafe job.runSynchronously(isolatedTo: executor, taskExecutor: preference)
            }
        }
    }
}
