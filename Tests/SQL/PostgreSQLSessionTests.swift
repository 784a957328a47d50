// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import Synchronization
import TestSupport
import Testing

@Suite("A session of PostgreSQL's")
struct PostgreSQLSessionTests {
    /// Runs `body` on a database with one connection that was used before.
    private func use(
        patience: Duration = .seconds(10), _ body: (any Database) async throws -> Void
    ) async throws {
        guard case .postgreSQL(let connection) = try Backend.postgreSQL.make().place else { return }
        let database = try PostgreSQLDatabase(
            connection: connection, connections: 1, patience: patience)
        do {
            try await database.migrate(things)
            try await insert(1, into: database)
            try await body(database)
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }

    /// What the connection has prepared more than once.
    private func doubles(_ database: any Database) async throws -> Int {
        try await database.write { store throws(DatabaseFault) in
            try store.run(
                """
                SELECT statement FROM pg_prepared_statements GROUP BY statement
                HAVING COUNT(*) > 1
                """
            ).count
        }
    }

    private func expectUnavailable(_ fault: DatabaseFault?) {
        switch fault {
        // Busy where the server itself has stopped a statement that took too long.
        case .unavailable, .busy: break
        case .damaged, .broken, .full, .newer, nil:
            Issue.record("gave \(String(describing: fault))")
        }
    }

    @Test("has one time for all statements of a transaction together")
    func wholeTransaction() async throws {
        try await use(patience: .seconds(2)) { database in
            let done = Atomic(0)
            let fault = await fault {
                try await database.write { store throws(DatabaseFault) in
                    for _ in 0..<6 {
                        // Within what a statement has.
                        try store.run("SELECT 1 FROM pg_sleep(0.7)")
                        done.add(1, ordering: .sequentiallyConsistent)
                    }
                }
            }
            expectUnavailable(fault)
            #expect(done.load(ordering: .sequentiallyConsistent) < 3)
            // The next one has its own, on a connection of its own.
            try await insert(2, into: database)
            let found = try await codes(of: database)
            #expect(found == [1, 2])
        }
    }

    @Test(
        "that was too slow, by our limit or its own, is not sent the request again",
        arguments: [(Duration.seconds(3), "0"), (.seconds(10), "100")])
    func late(patience: Duration, ownLimit: String) async throws {
        try await use(patience: patience) { database in
            let runs = Atomic(0)
            let fault = await fault {
                try await database.write { store throws(DatabaseFault) in
                    runs.add(1, ordering: .sequentiallyConsistent)
                    try store.run(
                        "SELECT set_config('statement_timeout', $1, true)", [.text(ownLimit)])
                    try store.run("SELECT 1 FROM pg_sleep(6)")
                }
            }
            expectUnavailable(fault)
            #expect(runs.load(ordering: .sequentiallyConsistent) == 1)
            try await insert(2, into: database)
        }
    }

    @Test("that ends in the middle of a transaction is asked once more, and no further")
    func ended() async throws {
        try await use { database in
            let runs = Atomic(0)
            let fault = await fault {
                try await database.write { store throws(DatabaseFault) in
                    runs.add(1, ordering: .sequentiallyConsistent)
                    try store.run("INSERT INTO codes (code, used) VALUES (2, 0)")
                    try store.run("SELECT pg_terminate_backend(pg_backend_pid())")
                }
            }
            expectUnavailable(fault)
            #expect(runs.load(ordering: .sequentiallyConsistent) == 2)
            let found = try await codes(of: database)
            #expect(found == [1])
        }
    }

    @Test("prepares nothing twice, whatever fails beside it or is rolled back")
    func preparedOnce() async throws {
        try await use { database in
            for round in 0..<5 {
                // Three that are new in the first round, with one in their midst that fails.
                let failed = await fault {
                    try await database.write { store throws(DatabaseFault) in
                        try store.add("UPDATE codes SET used = 7 WHERE code = 1", [])
                        try store.add("INSERT INTO codes (code, used) VALUES (1, 3)", [])
                        try store.run("SELECT code FROM codes WHERE used = 7")
                    }
                }
                #expect(failed != nil)
                // One that cannot be prepared, before one that can.
                let unknown = await fault {
                    try await database.write { store throws(DatabaseFault) in
                        try store.add("UPDATE codes SET used = 8", [])
                        try store.add("UPDATE later SET used = 8", [])
                        try store.run("SELECT code FROM codes WHERE used = 8")
                    }
                }
                #expect(unknown != nil)
                // All is good, and its body throws.
                let thrown = await fault {
                    try await database.write { store throws(DatabaseFault) in
                        try store.run("UPDATE codes SET used = 9")
                        throw .full
                    }
                }
                #expect(thrown == .full)
                #expect(try await doubles(database) == 0, "round \(round)")
            }
            // What failed to be prepared is, once it can be.
            try await database.write { store throws(DatabaseFault) in
                try store.run("CREATE TABLE later (used BIGINT)")
            }
            for _ in 0..<2 {
                try await database.write { store throws(DatabaseFault) in
                    try store.add("UPDATE codes SET used = 8", [])
                    try store.add("UPDATE later SET used = 8", [])
                    let rows = try store.run("SELECT code FROM codes WHERE used = 8")
                    guard rows == [Row([.integer(1)])] else { throw .full }
                }
            }
            #expect(try await doubles(database) == 0)
        }
    }

    @Test("is left for another at each fault that is not its statement's own")
    func leftAfterFaults() async throws {
        try await use { database in
            func session() async throws -> Int64? {
                try await database.write { store throws(DatabaseFault) in
                    try store.run("SELECT pg_backend_pid()").first?.integer(0)
                }
            }
            func isLeft(after sql: StaticString) async throws -> Bool {
                let before = try await session()
                let met = await fault {
                    try await database.write { store throws(DatabaseFault) in
                        try store.run("SET LOCAL transaction_read_only = off")
                        try store.run(sql)
                    }
                }
                #expect(met != nil, "\(sql)")
                return try await session() != before
            }
            // Unknown table, division by zero, a row that is there, wrong syntax.
            for sql in [
                "SELECT code FROM unknown", "SELECT code / 0 FROM codes",
                "INSERT INTO codes (code, used) VALUES (1, 0)", "SELECT FROM WHERE",
            ] as [StaticString] {
                let left = try await isLeft(after: sql)
                #expect(!left, "\(sql)")
            }
            // As a standby answers, as a server that is ending, short of memory, or wrong inside.
            for sql in [
                "DO $$ BEGIN RAISE 'no' USING ERRCODE = '0A000'; END $$",
                "DO $$ BEGIN RAISE 'no' USING ERRCODE = '25006'; END $$",
                "DO $$ BEGIN RAISE 'no' USING ERRCODE = '57P01'; END $$",
                "DO $$ BEGIN RAISE 'no' USING ERRCODE = '53200'; END $$",
                "DO $$ BEGIN RAISE 'no' USING ERRCODE = 'XX000'; END $$",
                "DO $$ BEGIN RAISE 'no' USING ERRCODE = '72000'; END $$",
            ] as [StaticString] {
                let left = try await isLeft(after: sql)
                #expect(left, "\(sql)")
            }
        }
    }

    @Test("that has forgotten what it had prepared is left for another")
    func forgotten() async throws {
        try await use { database in
            for code in 2..<6 as Range<Int64> {
                try await insert(code, into: database)
                try await database.write { store throws(DatabaseFault) in
                    try store.run("DEALLOCATE ALL")
                }
            }
            let found = try await codes(of: database)
            #expect(found == [1, 2, 3, 4, 5])
        }
    }
}
