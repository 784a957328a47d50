// SPDX-License-Identifier: Apache-2.0
/// A body that awaits a thread with a connection, and whoever awaits its end.
final class Job: Sendable {
    typealias Body = @Sendable (any Transaction) throws(DatabaseFault) -> Void
    typealias End = CheckedContinuation<DatabaseFault?, Never>

    /// When it came, by the monotonic clock, in nanoseconds.
    let arrival = monotonicNanoseconds()
    private let body: Body
    private let end: End

    init(_ body: @escaping Body, _ end: End) {
        self.body = body
        self.end = end
    }

    /// Runs the body, once more if it ran before.
    func run(in transaction: any Transaction) throws(DatabaseFault) { try body(transaction) }

    /// Says that it is over, and what it failed with, if anything. Exactly once.
    func finish(_ fault: DatabaseFault?) { end.resume(returning: fault) }
}

extension JobQueue {
    /// Has one of the threads run `body`, and waits for its end; the caller's thread is not held.
    func perform(_ body: @escaping Job.Body) async throws(DatabaseFault) {
        let fault = await withCheckedContinuation { end in
            let job = Job(body, end)
            if !add(job) { job.finish(.unavailable("the database is closed")) }
        }
        if let fault { throw fault }
    }
}

extension Access {
    /// The one of a database's two queues that it is for.
    func queue(reads: JobQueue, writes: JobQueue) -> JobQueue {
        switch self {
        case .read: reads
        case .write: writes
        }
    }
}
