// SPDX-License-Identifier: Apache-2.0
/// A database in a file: durable when a write returns, whatever becomes of the machine.
///
/// One thread writes, and takes all that is waiting into one commit. Others read meanwhile.
package final class SQLiteDatabase: Database {
    /// How long a commit waits at most for others to share it.
    package static let gathering: Duration = .milliseconds(2)
    /// So many reads share a state at most: the other threads have some too.
    private static let readBatch = 8

    /// What it has done since it was opened.
    package let figures: DatabaseFigures
    private let writes: JobQueue
    private let reads: JobQueue

    /// Opens the file at an absolute path, or makes it; `readers` threads read.
    ///
    /// While a commit has less than a quarter of `figures.callers`, it waits for more of them,
    /// `gathering` at most.
    ///
    /// The file is for the program's account alone (mode 0600), and the directory must not let
    /// others write. Throws `.broken` for a file that is damaged or another program's.
    package init(
        path: String, readers: Int = 2, gathering: Duration = SQLiteDatabase.gathering
    ) throws(DatabaseFault) {
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
        let commits = SQLiteWriter(writer, turn, figures, gathering: gathering)
        try writes.start { queue in commits.run(queue) }
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
        connection.rollBack()
    }
}
