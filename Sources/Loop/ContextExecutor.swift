// SPDX-License-Identifier: Apache-2.0
import CGLib
import Synchronization

/// Runs Swift jobs on the thread that iterates one GLib main context, in the order they came.
///
/// As a task's preference it also takes what the runtime resumes on no actor: after each wait, which
/// would else start threads of a pool.
///
/// Between jobs it costs nothing: its source has no ready time until a job is queued.
///
/// SAFETY: `context` is a reference held for the process's life and is only handed to GLib calls
/// that lock it; every other property is immutable or behind the mutex.
@safe package final class ContextExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// The default main context, which libfprint itself iterates.
    package static let reader = unsafe ContextExecutor(g_main_context_default())

    /// A private context that a busy reader cannot hold up.
    package static let service = unsafe ContextExecutor(g_main_context_new())

    /// The executor whose context the calling thread is running, if it is one of the two.
    package static var current: ContextExecutor? {
        if service.isIsolatingCurrentContext() == true { return service }
        return reader.isIsolatingCurrentContext() == true ? reader : nil
    }

    /// Rounds of jobs before other sources get a turn.
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

    /// Queues the job from any thread.
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

    /// The source rests only when the queue is seen empty under the lock, so no wake-up is lost.
    private func drain() {
        // As both: a task that prefers this executor then goes on at once where it need not leave.
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
