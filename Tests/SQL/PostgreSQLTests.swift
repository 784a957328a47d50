// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import TestSupport
import Testing

@Suite("A PostgreSQL server")
struct PostgreSQLTests {
    @Test("that ends is unavailable, and serves again when it is back")
    func crash() async throws {
        let server = try PostgreSQLServer()
        let database = try PostgreSQLDatabase(connection: server.connection(), connections: 2)
        try await database.migrate(things)
        try await insert(1, into: database)
        server.crash()
        guard case .unavailable = await fault({ try await insert(2, into: database) }) else {
            Issue.record("an absent server was not unavailable")
            return
        }
        try server.start()
        // For a moment after a failure the server is not asked again.
        var met = DatabaseFault?.some(.full)
        for _ in 0..<200 where met != nil {
            met = await fault { try await insert(3, into: database) }
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(met == nil)
        let found = try await codes(of: database)
        #expect(found == [1, 3])
        await database.close()
    }

    @Test("that was away between two transactions is not missed")
    func restart() async throws {
        let server = try PostgreSQLServer()
        let database = try PostgreSQLDatabase(connection: server.connection(), connections: 2)
        try await database.migrate(things)
        try await insert(1, into: database)
        server.stop()
        try server.start()
        try await insert(2, into: database)
        let found = try await codes(of: database)
        #expect(found == [1, 2])
        await database.close()
    }

    @Test("repeats transactions that deadlock")
    func deadlock() async throws {
        try await Backend.postgreSQL.make().use(things) { database in
            try await insert(1, into: database)
            try await insert(2, into: database)
            let both = Rendezvous()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for order in [[1, 2], [2, 1]] as [[Int64]] {
                    group.addTask {
                        try await database.write { (transaction) throws(DatabaseFault) in
                            try use(order[0], in: transaction)
                            both.meet()
                            try use(order[1], in: transaction)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let used = try await database.read { (transaction) throws(DatabaseFault) in
                try transaction.run("SELECT used FROM codes")
                    .map { (row) throws(DatabaseFault) in try row.integer(0) }
            }
            #expect(used == [2, 2])
            #expect((3...9).contains(both.meetings))
        }
    }

    @Test("that another process has migrated meanwhile still answers")
    func migrated() async throws {
        let server = try PostgreSQLServer()
        let database = try PostgreSQLDatabase(connection: server.connection(), connections: 1)
        try await database.migrate(things)
        try await insert(1, into: database)
        for change in ["ALTER TABLE codes ADD more TEXT", "SELECT 1"] {
            let rows = try await database.write { (transaction) throws(DatabaseFault) in
                try transaction.run("SELECT * FROM codes")
            }
            #expect(rows.count == 1)
            try server.query(change)
        }
        await database.close()
    }

    @Test("that cannot be reached or refuses access reveals no password")
    func secrets() async throws {
        let scratch = try Scratch()
        for string in [
            "host=\(scratch.path) password=hunter2", "host=\(scratch.path) hunter2",
            "postgresql://signet:hunter2@127.0.0.1:1/x", "host=hunter2.invalid password=hunter2",
        ] {
            let fault = await fault {
                let database = try PostgreSQLDatabase(connection: string, connections: 1)
                try await insert(1, into: database)
            }
            #expect(fault != nil)
            #expect(!String(describing: fault).contains("hunter2"))
        }
    }

    @Test("that hangs delays no call for long, and serves again when it recovers")
    func frozen() async throws {
        let server = try PostgreSQLServer()
        let database = try PostgreSQLDatabase(
            connection: server.connection() + " connect_timeout=2", connections: 2,
            patience: .seconds(3))
        try await database.migrate(things)
        try await insert(1, into: database)
        server.suspend()
        let began = ContinuousClock.now
        let faults = await withTaskGroup(of: DatabaseFault?.self) { group in
            for code in 2..<40 as Range<Int64> {
                group.addTask { await fault { try await insert(code, into: database) } }
            }
            for _ in 0..<10 {
                group.addTask { await fault { _ = try await codes(of: database) } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ContinuousClock.now - began < .seconds(60))
        #expect(faults.count == 48)
        for fault in faults {
            guard case .unavailable = fault else {
                Issue.record("a server that stands still was not unavailable")
                continue
            }
        }
        server.resume()
        var met = DatabaseFault?.some(.full)
        for _ in 0..<400 where met != nil {
            met = await fault { try await insert(100, into: database) }
            if met != nil { try await Task.sleep(for: .milliseconds(10)) }
        }
        #expect(met == nil)
        // What was sent before it stood still may have been done when it went on, and no more.
        let found = try await codes(of: database)
        #expect(found.contains(1) && found.contains(100))
        await database.close()
    }

    @Test("is asked by TLS if its name and authority are the right ones, and not otherwise")
    func tls() async throws {
        let scratch = try Scratch()
        for name in ["server", "other"] { try scratch.makeCertificate(name, of: "DNS:localhost") }
        let server = try PostgreSQLServer(
            identity: (try scratch.read("server.pem"), try scratch.read("server.key")))
        func ask(_ host: String, _ authority: String) async throws(DatabaseFault) -> [Row] {
            let database = try PostgreSQLDatabase(
                connection: """
                    host=\(host) hostaddr=127.0.0.1 port=\(server.tlsPort) user=signet \
                    dbname=postgres sslmode=verify-full sslrootcert=\(scratch.at(authority))
                    """, connections: 1)
            do throws(DatabaseFault) {
                let rows = try await database.read { (transaction) throws(DatabaseFault) in
                    try transaction.run(
                        "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
                }
                await database.close()
                return rows
            } catch {
                await database.close()
                throw error
            }
        }
        #expect(try await ask("localhost", "server.pem") == [Row([.integer(1)])])
        for (host, authority) in [
            ("localhost", "other.pem"), ("db.example.org", "server.pem"),
            ("localhost", "missing.pem"),
        ] {
            let fault = await fault { _ = try await ask(host, authority) }
            guard case .unavailable = fault else {
                Issue.record("\(host) with \(authority): \(String(describing: fault))")
                continue
            }
        }
    }

    @Test("gives columns of other types as a fault")
    func types() async throws {
        try await Backend.postgreSQL.make().use(things) { database in
            let fault = await fault {
                try await database.read { (transaction) throws(DatabaseFault) in
                    try transaction.run("SELECT 1.5")
                }
            }
            guard case .broken = fault else {
                Issue.record("gave \(String(describing: fault))")
                return
            }
            let rows = try await database.read { (transaction) throws(DatabaseFault) in
                try transaction.run(
                    "SELECT CAST(-2 AS SMALLINT), -3, CAST(-4 AS BIGINT), 1 = 1, 1 = 2")
            }
            #expect(rows == [Row([-2, -3, -4, 1, 0].map { .integer($0) })])
        }
    }
}

private func use(_ code: Int64, in transaction: any Transaction) throws(DatabaseFault) {
    try transaction.run("UPDATE codes SET used = used + 1 WHERE code = $1", [.integer(code)])
}
