import Synchronization

/// A body that awaits a thread with a connection, and whoever awaits its answer.
protocol Job: AnyObject, Sendable {
    /// When it came, by the monotonic clock, in nanoseconds.
    var arrival: Int64 { get }

    /// Runs the body, once more if it ran before, and remembers its result.
    func run(in transaction: any Transaction) throws(DatabaseFault)

    /// Hands over the last result, or this fault instead. Exactly once.
    func finish(_ fault: DatabaseFault?)
}

/// A job whose answer is a `T`.
private final class AwaitedJob<T: Sendable>: Job {
    typealias Body = @Sendable (any Transaction) throws(DatabaseFault) -> T
    typealias Answer = CheckedContinuation<Result<T, DatabaseFault>, Never>

    let arrival = monotonicNanoseconds()
    private let body: Body
    private let answer: Answer
    private let result = Mutex<T?>(nil)

    init(_ body: @escaping Body, _ answer: Answer) {
        self.body = body
        self.answer = answer
    }

    func run(in transaction: any Transaction) throws(DatabaseFault) {
        let value = try body(transaction)
        result.withLock { $0 = value }
    }

    func finish(_ fault: DatabaseFault?) {
        if let fault { return answer.resume(returning: .failure(fault)) }
        guard let value = result.withLock({ $0.take() }) else {
            return answer.resume(returning: .failure(.broken("a transaction was not run")))
        }
        answer.resume(returning: .success(value))
    }
}

extension JobQueue {
    /// Has one of the threads run `body`, and gives its answer; the caller's thread is not held.
    func answer<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(DatabaseFault) -> T {
        let result = await withCheckedContinuation { answer in
            let job = AwaitedJob<T>(body, answer)
            if !add(job) { job.finish(.unavailable("the database is closed")) }
        }
        return try result.get()
    }
}
