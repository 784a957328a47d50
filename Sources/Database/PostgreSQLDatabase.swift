// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A PostgreSQL server, which several processes may use at once.
///
/// While it cannot be reached, everything is `.unavailable`; connections are made anew as they are
/// wanted.
package final class PostgreSQLDatabase: Database {
    /// So often a transaction is run anew because others were in the way.
    private static let attempts = 10

    /// What it has done since it was opened.
    package let figures: DatabaseFigures
    private let writes: JobQueue
    private let reads: JobQueue

    /// Uses the server of a connection string (libpq's, TLS included) by so many connections for
    /// writing, and a quarter of that for reading. Does not wait for it.
    ///
    /// Writes that wait for the disk at the same time share it, so more connections are more writes
    /// a second. Throws `.broken` for a string that libpq does not understand. No fault tells a
    /// password. `patience`, in whole seconds, is for a transaction, and for the wait before it.
    package init(
        connection: String, connections: Int = 16, patience: Duration = .seconds(10)
    ) throws(DatabaseFault) {
        figures = DatabaseFigures()
        writes = JobQueue(figures)
        reads = JobQueue(figures)
        let parameters = try ConnectionParameters(connection)
        let outage = Outage()
        let writers = max(1, connections)
        try Self.start(
            writers, on: writes,
            Session(
                parameters: parameters, outage: outage, patience: patience,
                begin: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"))
        try Self.start(
            max(1, writers / 4), on: reads,
            Session(
                parameters: parameters, outage: outage, patience: patience,
                begin: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    }

    /// Starts threads, each with a session of its own that begins as `first`.
    private static func start(
        _ count: Int, on queue: JobQueue, _ first: Session
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
        try await access.queue(reads: reads, writes: writes).perform(body)
    }

    package func close() async {
        await writes.end()
        await reads.end()
    }
}

/// What all threads know of a server that cannot be reached: they do not all wait for it again.
private final class Outage: Sendable {
    private let last = Mutex<(until: ContinuousClock.Instant, text: String)?>(nil)

    /// Why there is no use in trying now; nil otherwise.
    var text: String? {
        last.withLock { last in
            guard let known = last, known.until > .now else { return nil }
            return known.text
        }
    }

    func note(_ text: String) { last.withLock { $0 = (.now + .milliseconds(200), text) } }
}

/// A thread's connection, made when it is wanted.
private struct Session: Sendable {
    let parameters: ConnectionParameters
    let outage: Outage
    let patience: Duration
    let begin: String
    private var connection: PostgreSQLConnection?

    init(
        parameters: ConnectionParameters, outage: Outage, patience: Duration, begin: String
    ) {
        self.parameters = parameters
        self.outage = outage
        self.patience = patience
        self.begin = begin
    }

    /// Runs a job as a transaction, anew where that helps; gives its fault.
    mutating func run(_ job: Job, attempts: Int) -> DatabaseFault? {
        // Whoever waited so long behind others that do not get an answer is told now.
        guard monotonicNanoseconds() - job.arrival < patience.nanoseconds
        else { return PostgreSQLFault.late.plain }
        var isFresh = connection == nil
        var left = attempts
        var metDouble = false
        var deadline: Int64?
        while true {
            var isCommitting = false
            do throws(PostgreSQLFault) {
                try runOnce(job, &deadline, &isCommitting)
                return nil
            } catch {
                left -= 1
                switch error {
                case .conflict where left > 0 && monotonicNanoseconds() < deadline ?? 0:
                    // The other is about to go on: begun at once, this one would be in its way again.
                    let most = min(200, 10 << (attempts - left))
                    _ = poll(nil, 0, Int32.random(in: 5...Int32(most)))
                // Whoever kept the row has committed, or there would be no fault.
                case .double where !metDouble:
                    metDouble = true
                // The server was away since the last job: nothing of this one has happened.
                case .lost where !isFresh && !isCommitting:
                    connection = nil
                    isFresh = true
                case .lost, .late:
                    connection = nil
                    return error.plain
                case .conflict, .double, .fault:
                    return error.plain
                }
            }
        }
    }

    /// The time for all attempts together begins with the first connection that there is.
    private mutating func runOnce(
        _ job: Job, _ deadline: inout Int64?, _ isCommitting: inout Bool
    ) throws(PostgreSQLFault) {
        let connection = try connected()
        let end = deadline ?? monotonicNanoseconds() + patience.nanoseconds
        deadline = end
        do throws(PostgreSQLFault) {
            try connection.begin(begin, until: end)
            try PostgreSQLTransaction.run(job, on: connection)
            if connection.isUntried { try connection.settle() }
            isCommitting = true
            try connection.send("COMMIT")
            guard try connection.settle().tag == "COMMIT" else {
                throw .fault(.broken("a transaction was undone"))
            }
        } catch {
            if error.endsConnection { throw error }
            // What it failed with stays the reason, whether or not it can still be rolled back.
            do throws(PostgreSQLFault) {
                try connection.rollBack()
            } catch { self.connection = nil }
            throw error
        }
    }

    private mutating func connected() throws(PostgreSQLFault) -> PostgreSQLConnection {
        if let connection { return connection }
        if let text = outage.text { throw .lost(text) }
        do throws(PostgreSQLFault) {
            let made = try PostgreSQLConnection(parameters, patience: patience)
            connection = made
            return made
        } catch {
            outage.note(error.plain.text)
            throw error
        }
    }
}

extension DatabaseFault {
    fileprivate var text: String {
        switch self {
        case .unavailable(let text), .broken(let text): text
        case .full: "there is no room left"
        case .newer: "the database has a later form"
        }
    }
}
