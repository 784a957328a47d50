// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A PostgreSQL server, which several processes may use at the same time.
///
/// Each thread has its own connection, which it opens when it needs one. While the server
/// cannot be reached, transactions fail with `.unavailable`. Writes run at READ COMMITTED, reads at
/// REPEATABLE READ. A transaction that conflicts with others is repeated, up to ten times.
package final class PostgreSQLDatabase: Database {
    /// How often a transaction is attempted when others conflict with it.
    private static let attempts = 10

    /// Figures since the database was opened.
    package let figures: DatabaseFigures
    private let writes: JobQueue
    private let reads: JobQueue

    /// Starts the threads, and does not wait for the server.
    ///
    /// Writes that wait for the disk at the same time share one flush, so more connections permit
    /// more writes per second. No fault contains a password.
    ///
    /// - Parameters:
    ///   - connection: a connection string of libpq, which includes the TLS settings.
    ///   - connections: the number of connections for writing; a quarter of it is added for
    ///     reading.
    ///   - patience: the time for one transaction, and for its wait in the queue, in whole seconds.
    /// - Throws: `.broken` if libpq cannot parse the string, `.unavailable` if a thread cannot be
    ///   started.
    package init(
        connection: String, connections: Int = 16, patience: Duration = .seconds(10)
    ) throws(DatabaseFault) {
        figures = DatabaseFigures()
        writes = JobQueue(figures)
        reads = JobQueue(figures)
        let parameters = try ConnectionParameters(connection)
        let reachability = Reachability()
        let writers = max(1, connections)
        try Self.start(
            writers, on: writes,
            first: Session(
                parameters: parameters, reachability: reachability, patience: patience,
                figures: figures,
                begin: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"))
        try Self.start(
            max(1, writers / 4), on: reads,
            first: Session(
                parameters: parameters, reachability: reachability, patience: patience,
                figures: figures,
                begin: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    }

    /// Starts threads, each with its own copy of the session `first`.
    private static func start(
        _ count: Int, on queue: JobQueue, first: Session
    ) throws(DatabaseFault) {
        for _ in 0..<count {
            try queue.start { queue in
                var session = first
                while let job = queue.take(upTo: 1).first {
                    job.finish(session.run(job, attempts: Self.attempts))
                }
            }
        }
    }

    deinit {
        writes.close()
        reads.close()
    }

    package func perform(
        _ access: Access,
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> Void
    ) async throws(DatabaseFault) {
        try await access.queue(reads: reads, writes: writes).perform(body, counting: figures)
    }

    package func close() async {
        await writes.end()
        await reads.end()
    }
}

/// What the threads know of the server together.
private final class Reachability: Sendable {
    private let last = Mutex<(until: ContinuousClock.Instant, fault: DatabaseFault)?>(nil)
    private let hasCheckedPooler = Atomic(false)
    /// How often the server has fallen silent.
    private let silences = Atomic(0)

    /// Why the server could not be connected to in the last 200 ms, so that not every thread tries
    /// again; nil if it could.
    var outage: DatabaseFault? {
        last.withLock { last in
            guard let known = last, known.until > .now else { return nil }
            return known.fault
        }
    }

    /// The number of this moment: a connection that was made at an earlier one is not used any more, as
    /// it leads to a server that has fallen silent since.
    var moment: Int { silences.load(ordering: .relaxed) }

    /// Notes that a connection of that moment was not answered at all. A server that works but is slow
    /// ends the statement in time.
    func noteSilence(since moment: Int) {
        _ = silences.compareExchange(
            expected: moment, desired: moment &+ 1, ordering: .relaxed)
    }

    func note(_ fault: DatabaseFault) {
        last.withLock { $0 = (.now + .milliseconds(200), fault) }
    }

    /// Refuses a pooler that shares sessions, in words, as soon as it is connected to.
    ///
    /// A second connection shows it: in session mode each has a session of its own. Where the
    /// pooler has no room for it, the transactions find out (`PostgreSQLConnection.begin`).
    func checkPooler(
        _ connection: PostgreSQLConnection,
        connectAgain: () throws(PostgreSQLFault) -> PostgreSQLConnection
    ) throws(PostgreSQLFault) {
        guard connection.isPooled, !hasCheckedPooler.load(ordering: .relaxed) else { return }
        if let second = try? connectAgain(), connection.sharesSession(with: second) {
            throw .unusable(.sharedSession)
        }
        hasCheckedPooler.store(true, ordering: .relaxed)
    }
}

/// A thread's connection, opened when it is needed.
private struct Session: Sendable {
    let parameters: ConnectionParameters
    let reachability: Reachability
    let patience: Duration
    let figures: DatabaseFigures
    let begin: String
    private var connection: PostgreSQLConnection?
    /// When that was made, see `Reachability.moment`.
    private var moment = 0

    init(
        parameters: ConnectionParameters, reachability: Reachability, patience: Duration,
        figures: DatabaseFigures, begin: String
    ) {
        self.parameters = parameters
        self.reachability = reachability
        self.patience = patience
        self.figures = figures
        self.begin = begin
    }

    /// Runs a job as a transaction, and repeats it where that can help; returns the fault, if any.
    mutating func run(_ job: Job, attempts: Int) -> DatabaseFault? {
        // A job that has waited too long behind others fails at once.
        guard monotonicNanoseconds() - job.arrival < patience.nanoseconds
        else { return PostgreSQLFault.late.plain }
        var isFresh = connection == nil
        var left = attempts
        var metDouble = false
        var deadline: Int64?
        while true {
            var isCommitting = false
            do throws(PostgreSQLFault) {
                try runOnce(job, deadline: &deadline, isCommitting: &isCommitting)
                return nil
            } catch {
                left -= 1
                switch error {
                case .conflict where left > 0 && monotonicNanoseconds() < deadline ?? 0:
                    // Without a pause, the next attempt would conflict with the same transaction
                    // again.
                    let most = min(200, 10 << (attempts - left))
                    _ = poll(nil, 0, Int32.random(in: 5...Int32(most)))
                // The transaction that inserted the row has committed, so the next attempt sees the
                // row.
                case .double where !metDouble:
                    metDouble = true
                // COMMIT was not sent, so nothing of the transaction has happened. An old
                // connection may have broken long ago, or its server have become a standby.
                case .ended where !isFresh && !isCommitting:
                    connection = nil
                    isFresh = true
                case .ended, .unusable, .late:
                    if case .late = error { reachability.noteSilence(since: moment) }
                    connection = nil
                    return error.plain
                case .conflict, .double, .fault:
                    return error.plain
                }
            }
        }
    }

    /// Runs the job once; the time for all attempts together begins with the first connection.
    private mutating func runOnce(
        _ job: Job, deadline: inout Int64?, isCommitting: inout Bool
    ) throws(PostgreSQLFault) {
        let connection = try connected()
        let end = deadline ?? monotonicNanoseconds() + patience.nanoseconds
        deadline = end
        do throws(PostgreSQLFault) {
            try connection.begin(begin, until: end)
            let hasWritten = try PostgreSQLTransaction.run(job, on: connection)
            if connection.isUntried { try connection.settle() }
            isCommitting = true
            try connection.send("COMMIT")
            guard try connection.settle().tag == "COMMIT" else {
                throw .fault(.broken("a transaction was rolled back"))
            }
            if hasWritten { figures.noteWrite() }
        } catch {
            if error.endsConnection { throw error }
            // The original fault is reported, whether or not the rollback succeeds.
            do throws(PostgreSQLFault) {
                try connection.rollBack()
            } catch { self.connection = nil }
            throw error
        }
    }

    private mutating func connected() throws(PostgreSQLFault) -> PostgreSQLConnection {
        if let connection, moment == reachability.moment { return connection }
        connection = nil
        if let fault = reachability.outage { throw .ended(fault) }
        moment = reachability.moment
        do throws(PostgreSQLFault) {
            let made = try PostgreSQLConnection(parameters, patience: patience)
            try reachability.checkPooler(made) { () throws(PostgreSQLFault) in
                try PostgreSQLConnection(parameters, patience: min(patience, .seconds(2)))
            }
            connection = made
            return made
        } catch {
            reachability.note(error.plain)
            throw error
        }
    }
}
