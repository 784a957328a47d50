// SPDX-License-Identifier: Apache-2.0
/// The body of a transaction in a queue, with the continuation of its caller.
final class Job: Sendable {
    typealias Body = @Sendable (any Transaction) throws(DatabaseFault) -> Void
    typealias End = CheckedContinuation<DatabaseFault?, Never>

    /// The time at which it was queued, in nanoseconds of CLOCK_MONOTONIC.
    let arrival = monotonicNanoseconds()
    private let body: Body
    private let end: End

    init(_ body: @escaping Body, end: End) {
        self.body = body
        self.end = end
    }

    /// Runs the body, which may run again if the transaction has to be repeated.
    func run(in transaction: any Transaction) throws(DatabaseFault) { try body(transaction) }

    /// Resumes the caller with the fault, if any; this must be called exactly once.
    func finish(_ fault: DatabaseFault?) { end.resume(returning: fault) }
}

extension JobQueue {
    /// Runs `body` on one of the queue's threads, and waits without blocking the caller's thread.
    ///
    /// A fault is counted in `figures`.
    ///
    /// - Throws: `.unavailable` if the queue is closed, or the fault of the transaction.
    func perform(
        _ body: @escaping Job.Body, counting figures: DatabaseFigures
    ) async throws(DatabaseFault) {
        let fault = await withCheckedContinuation { end in
            let job = Job(body, end: end)
            if !add(job) { job.finish(.unavailable("the database is closed")) }
        }
        guard let fault else { return }
        figures.note(fault)
        throw fault
    }
}

extension Access {
    /// Selects one of a database's two queues.
    func queue(reads: JobQueue, writes: JobQueue) -> JobQueue {
        switch self {
        case .read: reads
        case .write: writes
        }
    }
}
