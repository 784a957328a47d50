// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Jobs in the order they came, and the threads of its own that do them.
///
/// The threads may block; nobody else is held up by them. They end when the queue is closed and
/// empty.
// SAFETY: the variables are touched under `mutex` only; both pointers are this object's own,
// made in `init` and freed in `deinit`, when no thread has it any more.
@safe final class JobQueue: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let arrival: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: [Job] = []
    /// How many of `jobs` are taken already.
    private var taken = 0
    private var isClosed = false
    /// How many jobs that are not taken it wants before it wakes a thread.
    private var wanted = 1
    private var threads = 0
    private var awaitingEnd: [CheckedContinuation<Void, Never>] = []
    private let figures: DatabaseFigures

    /// What jobs waited is noted in `figures`.
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

    /// Puts a job at the end; false if the queue is closed.
    func add(_ job: Job) -> Bool {
        locked {
            guard !isClosed else { return false }
            jobs.append(job)
            if jobs.count - taken >= wanted { unsafe pthread_cond_signal(arrival) }
            return true
        }
    }

    /// Waits for jobs and takes them from the front; none when the queue is closed and empty.
    func take(upTo limit: Int) -> [Job] {
        noted(
            locked {
                while taken == jobs.count && !isClosed { unsafe pthread_cond_wait(arrival, mutex) }
                return front(upTo: limit)
            })
    }

    /// Takes jobs that are there already, or come until `moment` (as `monotonicNanoseconds`): it
    /// waits until then for `count` of them; may be none. Only where one thread takes.
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

    /// Notes what jobs have waited.
    private func noted(_ batch: [Job]) -> [Job] {
        let now = batch.isEmpty ? 0 : monotonicNanoseconds()
        for job in batch { figures.waits.note(now - job.arrival) }
        return batch
    }

    private func front(upTo limit: Int) -> [Job] {
        let batch = Array(jobs[taken..<min(jobs.count, taken + limit)])
        taken += batch.count
        // The front is cut off when it is most of the array: no job is moved more than twice.
        if taken == jobs.count {
            jobs.removeAll(keepingCapacity: jobs.count <= 4096)
            taken = 0
        } else if taken > jobs.count / 2 {
            jobs.removeFirst(taken)
            taken = 0
        }
        return batch
    }

    /// Takes no more jobs; those that are there are still done.
    func close() {
        locked {
            isClosed = true
            unsafe pthread_cond_broadcast(arrival)
        }
    }

    /// Closes, and returns when the last thread has ended.
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

    /// Starts a thread that does `work` and ends.
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

/// What a thread is to do.
private final class ThreadWork: Sendable {
    let queue: JobQueue
    let work: @Sendable (JobQueue) -> Void

    init(queue: JobQueue, work: @escaping @Sendable (JobQueue) -> Void) {
        self.queue = queue
        self.work = work
    }

    /// Does it, and closes the connections that it alone has: nobody is told before that the thread
    /// has ended. Takes over what `context` retains.
    static func finish(_ context: UnsafeMutableRawPointer) -> JobQueue {
        let own = unsafe Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue()
        own.work(own.queue)
        return own.queue
    }
}

/// Names a statement for a cache: its address, as a literal never moves.
struct StatementKey: Hashable {
    private let address: Int
    private let count: Int

    /// `.broken` for a statement of a single character, which has no address.
    init(_ sql: StaticString) throws(DatabaseFault) {
        guard sql.hasPointerRepresentation else { throw .broken("that is no statement") }
        address = unsafe Int(bitPattern: sql.utf8Start)
        count = sql.utf8CodeUnitCount
    }
}
