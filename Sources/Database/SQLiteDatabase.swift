/// A database in a file: durable when a write returns, whatever becomes of the machine.
///
/// One thread writes, and takes all that is waiting into one commit. Others read meanwhile.
package final class SQLiteDatabase: Database {
    /// So many jobs share a commit at most: the first does not wait longer for its answer.
    private static let batch = 512
    /// So many reads share a state at most: the other threads have some too.
    private static let readBatch = 8

    /// What it has done since it was opened.
    package let figures: DatabaseFigures
    private let writes: JobQueue
    private let reads: JobQueue

    /// Opens the file at an absolute path, or makes it; `readers` threads read.
    ///
    /// The file is for the program's account alone (mode 0600), and the directory must not let
    /// others write. Throws `.broken` for a file that is damaged or another program's.
    package init(path: String, readers: Int = 2) throws(DatabaseFault) {
        let figures = DatabaseFigures()
        self.figures = figures
        writes = JobQueue(figures)
        reads = JobQueue(figures)
        try SQLiteFile.prepare(path)
        let turn = try SQLiteTurn(beside: path)
        let writer = try SQLiteConnection(path)
        // It may have to wait for another process that is about to do the same.
        try writer.execute("PRAGMA busy_timeout = 5000")
        try SQLiteFile.claim(writer, turn)
        try Self.configure(writer)
        try writer.execute(
            """
            PRAGMA synchronous = FULL;
            PRAGMA cache_size = -16000;
            PRAGMA wal_autocheckpoint = 4000;
            """)
        let others = try (0..<max(1, readers)).map { (_) throws(DatabaseFault) in
            let reader = try SQLiteConnection(path)
            try Self.configure(reader)
            try reader.execute("PRAGMA query_only = ON")
            return reader
        }
        try writes.start { queue in
            while true {
                let jobs = queue.take(upTo: Self.batch)
                if jobs.isEmpty { return }
                Self.write(jobs, from: queue, on: writer, turn, figures)
            }
        }
        for reader in others {
            try reads.start { queue in
                while true {
                    let jobs = queue.take(upTo: Self.readBatch)
                    if jobs.isEmpty { return }
                    Self.read(jobs, on: reader)
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
        // Whoever closes last brings the log into the file, which readers may not.
        await reads.end()
        await writes.end()
    }

    private static func configure(_ connection: SQLiteConnection) throws(DatabaseFault) {
        try connection.execute(
            """
            PRAGMA busy_timeout = 5000;
            PRAGMA journal_mode = WAL;
            PRAGMA foreign_keys = ON;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA journal_size_limit = 67108864;
            """)
    }

    /// Runs all of them on one state, which is none from before one of them came.
    private static func read(_ jobs: [Job], on connection: SQLiteConnection) {
        do {
            _ = try connection.run("BEGIN", [])
        } catch {
            return jobs.forEach { $0.finish(error) }
        }
        for job in jobs {
            do {
                try SQLiteTransaction.run(job, on: connection)
                job.finish(nil)
            } catch { job.finish(error) }
        }
        rollBack(connection)
    }

    // MARK: Writing

    /// Runs jobs, and those that come meanwhile, and answers them. A job that throws undoes only
    /// itself.
    private static func write(
        _ first: [Job], from queue: JobQueue, on connection: SQLiteConnection,
        _ turn: SQLiteTurn, _ figures: DatabaseFigures
    ) {
        var jobs = first
        do throws(DatabaseFault) {
            try turn.begin(on: connection)
            var done = 0
            while done < jobs.count {
                for job in jobs[done...] { try SQLiteTransaction.run(job, on: connection) }
                done = jobs.count
                // A commit costs as much as a dozen jobs: whoever came meanwhile shares it.
                jobs += queue.takeMore(upTo: batch - done)
            }
            _ = try connection.run("COMMIT", [])
            figures.batches.note(Int64(jobs.count))
            for job in jobs { job.finish(nil) }
        } catch {
            figures.batches.note(Int64(jobs.count))
            // All of it was undone, by the fault of one or for want of room: each for itself.
            rollBack(connection)
            if jobs.count == 1 {
                jobs[0].finish(error)
            } else {
                jobs.forEach { writeAlone($0, on: connection, turn) }
            }
        }
    }

    private static func writeAlone(
        _ job: Job, on connection: SQLiteConnection, _ turn: SQLiteTurn
    ) {
        do {
            try turn.begin(on: connection)
            try SQLiteTransaction.run(job, on: connection)
            _ = try connection.run("COMMIT", [])
        } catch {
            rollBack(connection)
            return job.finish(error)
        }
        job.finish(nil)
    }

    private static func rollBack(_ connection: SQLiteConnection) {
        guard !connection.isOutsideTransaction else { return }
        _ = try? connection.run("ROLLBACK", [])
    }
}
