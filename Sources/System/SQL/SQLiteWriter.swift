// SPDX-License-Identifier: Apache-2.0
/// The only thread of a program that writes to a file; it commits all waiting jobs together.
struct SQLiteWriter: Sendable {
    /// The most jobs that share a commit, which limits how long the first one waits.
    private static let batch = 512

    private let connection: SQLiteConnection
    private let turn: SQLiteTurn
    private let figures: DatabaseFigures
    /// The longest time that a commit waits for other jobs, in nanoseconds.
    private let gathering: Int64

    init(
        _ connection: SQLiteConnection, turn: SQLiteTurn, figures: DatabaseFigures,
        gathering: Duration
    ) {
        self.connection = connection
        self.turn = turn
        self.figures = figures
        self.gathering = Int64(gathering / .nanoseconds(1))
    }

    /// Processes a queue until it is closed and empty.
    func run(_ queue: JobQueue) {
        while true {
            let jobs = queue.take(upTo: Self.batch)
            if jobs.isEmpty { return }
            write(jobs, from: queue)
        }
    }

    /// Runs jobs, and those that arrive in the meantime, in one commit, and finishes them all.
    ///
    /// If one of them or the commit fails, everything is rolled back, and each job runs again in
    /// its own transaction.
    private func write(_ first: [Job], from queue: JobQueue) {
        var jobs = first
        do throws(DatabaseFault) {
            try turn.begin(on: connection)
            let before = connection.changesInAll
            let end = monotonicNanoseconds() + gathering
            var done = 0
            while done < jobs.count {
                for job in jobs[done...] { try SQLiteTransaction.run(job, on: connection) }
                done = jobs.count
                // A commit costs as much as a dozen jobs, so jobs that arrived in the meantime join
                // it, and it waits until a quarter of the calls that are being answered have
                // joined. It does not wait for more, because the others keep the processor busy
                // while this quarter waits for the disk.
                jobs += queue.takeMore(
                    upTo: Self.batch - done, awaiting: figures.callers.count / 4 - done, until: end)
            }
            _ = try connection.run("COMMIT", [])
            noteWrite(since: before)
            figures.batches.note(Int64(jobs.count))
            for job in jobs { job.finish(nil) }
        } catch {
            figures.batches.note(Int64(jobs.count))
            // Everything is rolled back, because of one job's fault or a full disk. Each job then
            // runs alone.
            connection.rollBack()
            if jobs.count == 1 {
                jobs[0].finish(error)
            } else {
                for job in jobs { writeAlone(job) }
            }
        }
    }

    /// Notes a commit that wrote something; one that changed nothing says nothing about the disk.
    private func noteWrite(since changes: Int64) {
        if connection.changesInAll != changes { figures.noteWrite() }
    }

    private func writeAlone(_ job: Job) {
        do {
            try turn.begin(on: connection)
            let before = connection.changesInAll
            try SQLiteTransaction.run(job, on: connection)
            _ = try connection.run("COMMIT", [])
            noteWrite(since: before)
        } catch {
            connection.rollBack()
            return job.finish(error)
        }
        job.finish(nil)
    }
}
