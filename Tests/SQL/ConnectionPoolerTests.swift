// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import TestSupport
import Testing

@Suite("PgBouncer in front of PostgreSQL")
struct ConnectionPoolerTests {
    private func open(
        _ pooler: ConnectionPooler, connections: Int = 4
    ) throws -> PostgreSQLDatabase {
        try PostgreSQLDatabase(connection: pooler.connection(), connections: connections)
    }

    private func expectRefusedInWords(_ met: DatabaseFault?) {
        guard case .broken(let text) = met, text.contains("pool_mode = session") else {
            Issue.record("gave \(String(describing: met))")
            return
        }
    }

    @Test("in session mode serves as PostgreSQL itself does")
    func session() async throws {
        let server = try PostgreSQLServer()
        let pooler = try ConnectionPooler(for: server, mode: "session")
        let database = try open(pooler)
        try await database.migrate(things)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for code in 0..<100 as Range<Int64> {
                group.addTask {
                    try await insert(code, into: database)
                    _ = try await codes(of: database)
                }
            }
            try await group.waitForAll()
        }
        let found = try await codes(of: database)
        #expect(found.count == 100)
        // It is away, and comes back behind a pooler that goes on.
        server.crash()
        guard case .unavailable = await fault({ try await insert(200, into: database) }) else {
            Issue.record("an absent server was not unavailable")
            return
        }
        try server.start()
        var met = DatabaseFault?.some(.full)
        for _ in 0..<500 where met != nil {
            met = await fault { try await insert(201, into: database) }
            if met != nil { try await Task.sleep(for: .milliseconds(20)) }
        }
        #expect(met == nil)
        await database.close()
    }

    @Test("in session mode with no room for one more is waited for")
    func noRoom() async throws {
        let server = try PostgreSQLServer()
        let pooler = try ConnectionPooler(for: server, mode: "session", size: 1)
        let database = try open(pooler, connections: 1)
        try await database.migrate(things)
        try await insert(1, into: database)
        await database.close()
    }

    @Test("in another mode is refused in words", arguments: ["transaction", "statement"])
    func shared(_ mode: String) async throws {
        let server = try PostgreSQLServer()
        let pooler = try ConnectionPooler(for: server, mode: mode)
        let database = try open(pooler)
        for _ in 0..<3 {
            expectRefusedInWords(await fault { try await database.migrate(things) })
        }
        await database.close()
        #expect(try server.query("SELECT COUNT(*) FROM pg_class WHERE relname = 'codes'") == "0\n")
    }

    @Test("that shares sessions unseen executes nothing of another's, and is found out")
    func found() async throws {
        let server = try PostgreSQLServer()
        let direct = try PostgreSQLDatabase(connection: server.connection(), connections: 1)
        try await direct.migrate(things)
        await direct.close()
        // Two connections, one after the other, get different sessions.
        let pooler = try ConnectionPooler(
            for: server, mode: "transaction",
            settings: "server_round_robin = 1\nmin_pool_size = 6")
        let databases = try [open(pooler), open(pooler)]
        var kept: Set<Int64> = []
        var refused = 0
        for round in 0..<20 as Range<Int64> {
            let outcomes = await withTaskGroup(of: (Int64, DatabaseFault?).self) { group in
                for code in round * 10..<round * 10 + 10 {
                    let database = databases[Int(code % 2)]
                    group.addTask {
                        if code % 3 == 0 { _ = await fault { _ = try await codes(of: database) } }
                        return (code, await fault { try await insert(code, into: database) })
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for (code, met) in outcomes {
                if let met { expectRefusedInWords(met) }
                if met == nil { kept.insert(code) } else { refused += 1 }
            }
        }
        #expect(refused > 0)
        let rows = try server.query("SELECT code FROM codes WHERE used = 0")
        #expect(Set(rows.split(separator: "\n").compactMap { Int64($0) }) == kept)
        for database in databases { await database.close() }
    }
}
