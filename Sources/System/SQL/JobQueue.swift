// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A first-in, first-out queue of jobs with its own threads, which may block.
///
/// The threads end when the queue is closed and empty.
// SAFETY: the variables are touched under `mutex` only; both pointers are this object's own,
// made in `init` and freed in `deinit`, when no thread uses it.
@safe final class JobQueue: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let arrival: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: [Job] = []
    /// The number of jobs, from the front of `jobs`, that have been taken.
    private var taken = 0
    private var isClosed = false
    /// The number of untaken jobs at which a thread is woken.
    private var wanted = 1
    private var threads = 0
    private var awaitingEnd: [CheckedContinuation<Void, Never>] = []
    private let figures: DatabaseFigures

    /// Creates a queue without threads; waiting times are recorded in `figures`.
    init(_ figures: DatabaseFigures) {
        self.figures = figures
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe arrival = .allocate(capacity: 1)
        unsafe arrival.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(arrival, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(arrival)
        unsafe arrival.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Appends a job; returns false if the queue is closed.
    func add(_ job: Job) -> Bool {
        locked {
            guard !isClosed else { return false }
            jobs.append(job)
            if jobs.count - taken >= wanted { unsafe pthread_cond_signal(arrival) }
            return true
        }
    }

    /// Waits for jobs and takes up to `limit` of them; returns none when the queue is closed and
    /// empty.
    func take(upTo limit: Int) -> [Job] {
        noted(
            locked {
                while taken == jobs.count && !isClosed { unsafe pthread_cond_wait(arrival, mutex) }
                return front(upTo: limit)
            })
    }

    /// Takes jobs that are queued, or that arrive before `moment` (as of `monotonicNanoseconds`).
    ///
    /// It waits until there are `count` jobs or the time is over, and may return none. It is only
    /// for a queue with a single thread that takes jobs.
    func takeMore(upTo limit: Int, awaiting count: Int, until moment: Int64) -> [Job] {
        noted(
            locked {
                wanted = max(1, min(count, limit))
                defer { wanted = 1 }
                var end = timespec(
                    tv_sec: Int(moment / 1_000_000_000), tv_nsec: Int(moment % 1_000_000_000))
                while jobs.count - taken < min(count, limit) && !isClosed {
                    let code = unsafe pthread_cond_timedwait(arrival, mutex, &end)
                    if code != 0 { break }
                }
                return front(upTo: limit)
            })
    }

    /// Records how long the jobs have waited.
    private func noted(_ batch: [Job]) -> [Job] {
        let now = batch.isEmpty ? 0 : monotonicNanoseconds()
        for job in batch { figures.waits.note(now - job.arrival) }
        return batch
    }

    private func front(upTo limit: Int) -> [Job] {
        let batch = Array(jobs[taken..<min(jobs.count, taken + limit)])
        taken += batch.count
        // Taken jobs are removed once they are most of the array, so that no job is moved more than
        // twice.
        if taken == jobs.count {
            jobs.removeAll(keepingCapacity: jobs.count <= 4096)
            taken = 0
        } else if taken > jobs.count / 2 {
            jobs.removeFirst(taken)
            taken = 0
        }
        return batch
    }

    /// Closes the queue to new jobs; those in it are still run.
    func close() {
        locked {
            isClosed = true
            unsafe pthread_cond_broadcast(arrival)
        }
    }

    /// Closes the queue, and returns when the last thread has ended.
    func end() async {
        close()
        await withCheckedContinuation { ended in
            let isOver = locked {
                if threads > 0 { awaitingEnd.append(ended) }
                return threads == 0
            }
            if isOver { ended.resume() }
        }
    }

    /// Starts a thread that runs `work`.
    ///
    /// - Throws: `.unavailable` if the thread cannot be created.
    func start(_ work: @escaping @Sendable (JobQueue) -> Void) throws(DatabaseFault) {
        let context = unsafe Unmanaged.passRetained(ThreadWork(queue: self, work: work))
        locked { threads += 1 }
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe ThreadWork.finish(context).leave()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            leave()
            throw .unavailable("no thread could be started: error \(code)")
        }
        pthread_detach(thread)
    }

    private func leave() {
        let awaiting = locked {
            threads -= 1
            guard threads == 0 else { return [] as [CheckedContinuation<Void, Never>] }
            defer { awaitingEnd = [] }
            return awaitingEnd
        }
        for ended in awaiting { ended.resume() }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }
}

/// The work of a thread.
private final class ThreadWork: Sendable {
    let queue: JobQueue
    let work: @Sendable (JobQueue) -> Void

    init(queue: JobQueue, work: @escaping @Sendable (JobQueue) -> Void) {
        self.queue = queue
        self.work = work
    }

    /// Runs the work, and releases it before the end of the thread is reported.
    ///
    /// Releasing it closes the thread's connections. This consumes the retained `context`.
    static func finish(_ context: UnsafeMutableRawPointer) -> JobQueue {
        let own = unsafe Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue()
        own.work(own.queue)
        return own.queue
    }
}

/// Identifies a prepared statement in a cache by its address, because string literals never move.
struct StatementKey: Hashable {
    private let address: Int
    private let count: Int

    /// Throws `.broken` for a statement of a single character, which has no address.
    init(_ sql: StaticString) throws(DatabaseFault) {
        guard sql.hasPointerRepresentation else { throw .broken("this is not a statement") }
        address = unsafe Int(bitPattern: sql.utf8Start)
        count = sql.utf8CodeUnitCount
    }
}
