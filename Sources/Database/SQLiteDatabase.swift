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
        let writer = try SQLiteConnection(path)
        // It may have to wait for another process that is about to do the same.
        try writer.execute("PRAGMA busy_timeout = 5000")
        try SQLiteFile.claim(writer)
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
                figures.batches.note(Int64(jobs.count))
                Self.write(jobs, on: writer)
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

    package func read<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(DatabaseFault) -> T { try await reads.answer(body) }

    @discardableResult
    package func write<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(DatabaseFault) -> T { try await writes.answer(body) }

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
    private static func read(_ jobs: [any Job], on connection: SQLiteConnection) {
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

    /// Runs all of them and answers them. A job that throws undoes only itself.
    private static func write(_ jobs: [any Job], on connection: SQLiteConnection) {
        guard jobs.count > 1 else { return jobs.forEach { writeAlone($0, on: connection) } }
        do {
            _ = try connection.run("BEGIN IMMEDIATE", [])
            for job in jobs { try SQLiteTransaction.run(job, on: connection) }
            _ = try connection.run("COMMIT", [])
            for job in jobs { job.finish(nil) }
        } catch {
            // All of it was undone, by the fault of one or for want of room: each for itself.
            rollBack(connection)
            jobs.forEach { writeAlone($0, on: connection) }
        }
    }

    private static func writeAlone(_ job: any Job, on connection: SQLiteConnection) {
        do {
            _ = try connection.run("BEGIN IMMEDIATE", [])
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
