// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import TestSupport
import Testing

@Suite("The check of a database")
struct DatabaseCheckTests {
    /// Tables that refer to each other, with an index of each kind.
    private static let migrations = [
        Migration(
            1,
            statements: [
                "CREATE TABLE shelf (id BIGINT PRIMARY KEY, name TEXT NOT NULL)",
                """
                CREATE TABLE book (
                    id {serial}, shelf BIGINT REFERENCES shelf (id), title TEXT NOT NULL)
                """,
                "CREATE INDEX book_title ON book (title)",
            ])
    ]

    private static func fill(_ database: any Database) async throws {
        try await database.write { store throws(DatabaseFault) in
            try store.run("INSERT INTO shelf (id, name) VALUES (1, 'first')")
            for number in 0..<2_000 as Range<Int64> {
                try store.add(
                    "INSERT INTO book (shelf, title) VALUES (1, $1)",
                    [.text("a title of some length, number \(number)")])
            }
            try store.run("INSERT INTO book (shelf, title) VALUES (NULL, 'without')")
        }
    }

    @Test("finds nothing in a sound one, empty or not", arguments: Backend.allCases)
    func sound(backend: Backend) async throws {
        let place = try backend.make()
        try await place.use { database in
            let quick = try await database.quickFindings()
            #expect(quick.isEmpty)
            let findings = try await database.findings()
            #expect(findings.isEmpty)
        }
        try await place.use(Self.migrations) { database in
            try await Self.fill(database)
            let quick = try await database.quickFindings()
            #expect(quick.isEmpty)
            let findings = try await database.findings()
            #expect(findings.isEmpty)
        }
    }

    @Test("knows which tables there are", arguments: Backend.allCases)
    func tables(backend: Backend) async throws {
        try await backend.make().use(Self.migrations) { database in
            for (name, isThere) in [
                ("book", true), ("boo", false), ("book_title", false), ("", false),
            ] {
                let found = try await database.hasTable(name)
                #expect(found == isThere, "\(name)")
            }
        }
    }

    @Test("finds rows whose counterpart is missing, and counts them", arguments: Backend.allCases)
    func dangling(backend: Backend) async throws {
        let place = try backend.make()
        try await place.use(Self.migrations) { try await Self.fill($0) }
        switch place.place {
        case .sqlite(let path):
            try run(["sqlite3", path, "PRAGMA foreign_keys = OFF; DELETE FROM shelf"])
        case .postgreSQL(let connection):
            try run([
                "psql", "-d", connection, "-c",
                "SET session_replication_role = replica; DELETE FROM shelf",
            ])
        }
        try await place.use(Self.migrations) { database in
            let findings = try await database.findings()
            #expect(
                findings == ["2000 rows of book refer to a row of shelf that is missing"])
        }
    }

    /// Overwrites the pages from one on, but not the first, which has the schema.
    private func damage(_ path: String, from page: Int, count: Int = 4_096) throws {
        try run([
            "dd", "if=/dev/urandom", "of=\(path)", "bs=4096", "seek=\(page)",
            "count=\(max(1, count / 4_096))", "conv=notrunc", "status=none",
        ])
    }

    @Test("finds damaged pages of a SQLite file, quickly and completely")
    func pages() async throws {
        let place = try Backend.sqlite.make()
        guard case .sqlite(let path) = place.place else { return }
        try await place.use(Self.migrations) { try await Self.fill($0) }
        try damage(path, from: 20)
        let database = try place.open()
        let quick = await fault {
            guard try await database.quickFindings().isEmpty else { throw Found() }
        }
        #expect(quick == nil || isDamaged(quick))
        let findings = try await database.findings()
        #expect(!findings.isEmpty)
        for finding in findings { #expect(!finding.contains("\n") && !finding.isEmpty) }
        await database.close()
    }

    private struct Found: Error {}

    private func isDamaged(_ fault: DatabaseFault?) -> Bool {
        if case .damaged = fault { true } else { false }
    }

    @Test("finds rows that an index of a SQLite file lacks")
    func index() async throws {
        let place = try Backend.sqlite.make()
        guard case .sqlite(let path) = place.place else { return }
        try await place.use(Self.migrations) { try await Self.fill($0) }
        // The index keeps its pages under another name, and the table loses a row meanwhile.
        // Newer versions of the command have the schema read-only, if they are not told otherwise.
        let editor = ["sqlite3", "-cmd", ".dbconfig defensive off", path]
        try run(
            editor + [
                """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = 'CREATE INDEX book_title ON book (title) WHERE id < 0'
                    WHERE name = 'book_title';
                """
            ])
        try run(["sqlite3", path, "DELETE FROM book WHERE id = 7"])
        try run(
            editor + [
                """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = 'CREATE INDEX book_title ON book (title)'
                    WHERE name = 'book_title';
                """
            ])
        try await place.use(Self.migrations) { database in
            let findings = try await database.findings()
            #expect(findings.contains { $0.contains("book_title") }, "\(findings)")
        }
    }

    @Test("finds indexes and constraints of PostgreSQL that are not valid")
    func invalid() async throws {
        let place = try Backend.postgreSQL.make()
        guard case .postgreSQL(let connection) = place.place else { return }
        try await place.use(Self.migrations) { try await Self.fill($0) }
        try run([
            "psql", "-d", connection, "-c",
            """
            ALTER TABLE book ADD CONSTRAINT titled CHECK (title <> 'without') NOT VALID;
            UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'book_title'::regclass
            """,
        ])
        try await place.use(Self.migrations) { database in
            let findings = try await database.findings()
            #expect(
                findings == [
                    "the index book_title is not valid: rebuild it with REINDEX",
                    "the constraint titled of book was never validated",
                ])
        }
    }

    @Test("uses amcheck where PostgreSQL has it")
    func amcheck() async throws {
        let place = try Backend.postgreSQL.make()
        guard case .postgreSQL(let connection) = place.place else { return }
        try await place.use(Self.migrations) { try await Self.fill($0) }
        try run(["psql", "-d", connection, "-c", "CREATE EXTENSION amcheck"])
        try await place.use(Self.migrations) { database in
            let findings = try await database.findings()
            #expect(findings.isEmpty, "\(findings)")
        }
        // A function that an index relies on changes its result, which makes the index wrong.
        for script in [
            "CREATE FUNCTION turned (bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT $1'",
            "CREATE INDEX book_turned ON book (turned(id))",
            """
            CREATE OR REPLACE FUNCTION turned (bigint) RETURNS bigint IMMUTABLE LANGUAGE sql
                AS 'SELECT - $1'
            """,
        ] {
            try run(["psql", "-d", connection, "-c", script])
        }
        try await place.use(Self.migrations) { database in
            let findings = try await database.findings()
            #expect(findings.count == 1)
            #expect(findings.allSatisfy { $0.contains("book_turned") }, "\(findings)")
        }
    }

    private func run(_ words: [String]) throws {
        let outcome = try Program(Command(words)).expectEnd()
        #expect(outcome.succeeded, "\(words[0]): \(outcome.errors)")
    }
}

@Suite("What is said of a database fault")
struct DatabaseFaultTests {
    private static let faults: [DatabaseFault] = [
        .unavailable("the reason"), .full, .newer(found: 3, known: 2), .damaged("the reason"),
        .broken("the reason"),
    ]

    @Test("is a line in words, with the reason, and never a name of the source")
    func words() {
        for fault in Self.faults {
            let text = "\(fault)"
            #expect(text.hasPrefix("the ") || text.hasPrefix("there "))
            #expect(!text.contains("\n") && !text.hasSuffix(".") && !text.contains("(\""))
            #expect(!text.contains("DatabaseFault"))
        }
        #expect(
            "\(DatabaseFault.damaged("page 7"))".contains(
                "page 7; stop the server, restore a backup"))
    }

    @Test("is that it is damaged, where SQLite or PostgreSQL says so")
    func damaged() async throws {
        let place = try Backend.postgreSQL.make()
        try await place.use { database in
            let met = await fault {
                try await database.write { store throws(DatabaseFault) in
                    _ = try store.run(
                        """
                        DO $$ BEGIN RAISE EXCEPTION 'invalid page in block 7'
                            USING ERRCODE = 'data_corrupted'; END $$
                        """)
                }
            }
            #expect(met == .damaged("invalid page in block 7 (XX001)"))
        }
    }
}
