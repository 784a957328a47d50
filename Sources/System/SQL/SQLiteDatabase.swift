// SPDX-License-Identifier: Apache-2.0
/// An SQLite database in WAL mode, where a write is durable when it returns, even if power fails.
///
/// One thread writes, and combines all waiting writes into one commit. Other threads read in the
/// meantime. Other processes may use the file too; the writers take turns (`SQLiteTurn`).
package final class SQLiteDatabase: Database {
    /// The default of the longest time that a commit waits for other writes to join it.
    package static let gathering: Duration = .milliseconds(2)
    /// For how many milliseconds another process' lock is waited for: a process that has died holds none.
    private static let lockWait = 10_000
    /// The most reads that share a snapshot, which leaves some to the other threads.
    private static let readBatch = 8

    /// Figures since the database was opened.
    package let figures: DatabaseFigures
    private let writes: JobQueue
    private let reads: JobQueue

    /// Opens or creates a database file.
    ///
    /// - Parameters:
    ///   - path: an absolute path. The file gets mode 0600; users other than root and this account
    ///     must not be able to write to its directory.
    ///   - readers: the number of threads that read.
    ///   - gathering: the longest time that a commit waits for more writes, while fewer than a
    ///     quarter of `figures.callers` have joined it.
    /// - Throws: `.damaged` if the file is damaged; `.broken` if it belongs to another program, or
    ///   if other users could alter it; `.full`, `.busy` or `.unavailable` if it cannot be opened.
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
        // Another process may do the same at this moment.
        try writer.execute("PRAGMA busy_timeout = \(Self.lockWait)")
        try SQLiteFile.claim(writer, turn: turn)
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
        let commits = SQLiteWriter(writer, turn: turn, figures: figures, gathering: gathering)
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
        try await access.queue(reads: reads, writes: writes).perform(body, counting: figures)
    }

    package func close() async {
        // The last connection to close moves the log into the file, which a reader may not do.
        await reads.end()
        await writes.end()
    }

    private static func configure(_ connection: SQLiteConnection) throws(DatabaseFault) {
        try connection.execute(
            """
            PRAGMA busy_timeout = \(lockWait);
            PRAGMA journal_mode = WAL;
            PRAGMA foreign_keys = ON;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA journal_size_limit = 67108864;
            """)
    }

    /// Runs jobs on one snapshot, which is at least as recent as the arrival of each.
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
