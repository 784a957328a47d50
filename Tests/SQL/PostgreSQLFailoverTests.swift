// SPDX-License-Identifier: Apache-2.0
import Glibc
import SQL
import SQLSupport
import TestSupport
import Testing

@Suite("PostgreSQL on a primary and a standby")
struct PostgreSQLFailoverTests {
    /// A primary, its standby, and both in one connection string, the standby second.
    private struct Pair {
        let primary: PostgreSQLServer
        let standby: PostgreSQLServer

        init() throws {
            primary = try PostgreSQLServer()
            standby = try PostgreSQLServer(standbyOf: primary)
        }

        func open(patience: Duration = .seconds(10)) async throws -> PostgreSQLDatabase {
            let hosts = [primary, standby].map(\.socketDirectory).joined(separator: ",")
            let database = try PostgreSQLDatabase(
                connection: "host=\(hosts) user=signet dbname=postgres connect_timeout=2",
                connections: 4, patience: patience)
            try await database.migrate(things)
            try await insertMany(from: 1, into: database)
            return database
        }
    }

    @Test("serves again at once when the primary is back, with every connection")
    func primaryReturns() async throws {
        let pair = try Pair()
        let database = try await pair.open()
        pair.primary.crash()
        // So that every connection was led to the standby.
        for _ in 0..<8 {
            await expectUnavailable { try await insertMany(from: 100, into: database) }
            await expectUnavailable { _ = try await codes(of: database) }
        }
        try pair.primary.start()
        try await expectServed(database, from: 200)
        #expect(try pair.standby.query("SELECT pg_is_in_recovery()") == "t\n")
        await database.close()
    }

    @Test("reads nothing from a standby, which may not know yet what was revoked")
    func readsThePrimary() async throws {
        let pair = try Pair()
        let database = try await pair.open()
        let first = try await server(of: database)
        #expect(first == "f")
        pair.primary.crash()
        await expectUnavailable { _ = try await server(of: database) }
        try pair.primary.start()
        try await expectServed(database, from: 200)
        let last = try await server(of: database)
        #expect(last == "f")
        await database.close()
    }

    @Test("follows to a standby that is made the primary")
    func promotion() async throws {
        let pair = try Pair()
        let database = try await pair.open()
        let count = try pair.primary.query("SELECT COUNT(*) FROM codes")
        try await wait { try pair.standby.query("SELECT COUNT(*) FROM codes") == count }
        pair.primary.crash()
        await expectUnavailable { try await insertMany(from: 100, into: database) }
        try pair.standby.promote()
        try await expectServed(database, from: 200)
        let found = try await codes(of: database)
        #expect(found.contains(1) && found.contains(1_200))
        await database.close()
    }

    @Test("follows with every connection, where the primary has fallen silent")
    func silence() async throws {
        let pair = try Pair()
        let database = try await pair.open(patience: .seconds(2))
        let count = try pair.primary.query("SELECT COUNT(*) FROM codes")
        try await wait { try pair.standby.query("SELECT COUNT(*) FROM codes") == count }
        pair.primary.suspend()
        defer { pair.primary.resume() }
        try pair.standby.promote()
        // One connection finds out. The others are open too, and none of them is tried any more.
        await expectUnavailable { try await insert(100, into: database) }
        for code in 101..<109 as Range<Int64> { try await insert(code, into: database) }
        _ = try await codes(of: database)
        await database.close()
    }

    @Test("is asked itself what it is, behind a pooler that led to another one before")
    func pooled() async throws {
        let pair = try Pair()
        let pooler = try ConnectionPooler(for: pair.primary, mode: "session")
        let database = try PostgreSQLDatabase(connection: pooler.connection(), connections: 2)
        try await database.migrate(things)
        try await insert(1, into: database)
        let count = try pair.primary.query("SELECT COUNT(*) FROM codes")
        try await wait {
            let found = try? pair.standby.query("SELECT COUNT(*) FROM codes")
            return found == count
        }
        // The address moves before the standby is made the primary.
        try pooler.lead(to: pair.standby)
        pair.primary.crash()
        for _ in 0..<4 {
            await expectUnavailable { _ = try await codes(of: database) }
            await expectUnavailable { try await insert(2, into: database) }
            try await Task.sleep(for: .milliseconds(250))
        }
        try pair.standby.promote()
        try await expectServed(database, from: 200)
        await database.close()
    }

    @Test("is served by a standby that was made the primary, though its pooler says otherwise")
    func pooledStandby() async throws {
        let pair = try Pair()
        let pooler = try ConnectionPooler(for: pair.standby, mode: "session")
        let database = try PostgreSQLDatabase(connection: pooler.connection(), connections: 2)
        for _ in 0..<3 {
            await expectUnavailable { try await database.migrate(things) }
            try await Task.sleep(for: .milliseconds(250))
        }
        pair.primary.crash()
        try pair.standby.promote()
        try await repeating { () async -> DatabaseFault? in
            await fault { try await database.migrate(things) }
        }
        try await expectServed(database, from: 200)
        await database.close()
    }

    @Test("is not looked for where the connection string asks for another kind of server")
    func wishes() throws {
        for kind in ["any", "read-only", "standby", "prefer-standby", "x"] {
            #expect(throws: DatabaseFault.self) {
                try PostgreSQLDatabase(connection: "host=/run target_session_attrs=\(kind)")
            }
        }
        for kind in ["read-write", "primary"] {
            _ = try PostgreSQLDatabase(connection: "host=/run target_session_attrs=\(kind)")
        }
    }

    @Test("passes by a host whose packets get lost")
    func lostPackets() async throws {
        let silent = try SilentPort()
        let server = try PostgreSQLServer()
        let database = try PostgreSQLDatabase(
            connection: """
                host=127.0.0.1,\(server.socketDirectory) port=\(silent.number),5432 \
                user=signet dbname=postgres connect_timeout=2
                """, connections: 1)
        try await database.migrate(things)
        try await insertMany(from: 1, into: database)
        await database.close()
    }

    /// Which kind of server answers: `t` for a standby.
    private func server(of database: any Database) async throws(DatabaseFault) -> String {
        try await database.read { store throws(DatabaseFault) in
            let rows = try store.run("SELECT CAST(pg_is_in_recovery() AS INTEGER)")
            return try rows.first?.integer(0) == 0 ? "f" : "t"
        }
    }

    private func expectUnavailable(_ body: () async throws -> Void) async {
        let met = await fault(body)
        guard case .unavailable = met else {
            Issue.record("gave \(String(describing: met))")
            return
        }
    }

    /// Expects that all calls are answered within ten seconds, and none refused after the first.
    private func expectServed(_ database: any Database, from code: Int64) async throws {
        var first = code
        try await repeating {
            defer { first += 10 }
            return await fault { try await insertMany(from: first, into: database) }
        }
        for round in 1..<5 as Range<Int64> {
            try await insertMany(from: code + 1_000 * round, into: database)
            _ = try await codes(of: database)
        }
    }

    /// Repeats a call until it gives no fault, as the last one must that begins after ten seconds:
    /// on a busy machine, one alone may take that long.
    private func repeating(_ call: () async throws -> DatabaseFault?) async throws {
        let limit = ContinuousClock.now + .seconds(10)
        var began = ContinuousClock.now
        while try await call() != nil {
            try #require(began < limit, "the server was not found again")
            // Time itself is awaited: that the failure is no longer remembered.
            try await Task.sleep(for: .milliseconds(20))
            began = .now
        }
    }

    private func wait(_ isTrue: () throws -> Bool) async throws {
        for _ in 0..<500 where try !isTrue() { try await Task.sleep(for: .milliseconds(20)) }
    }
}

/// Ten at once, so that every connection is used.
private func insertMany(
    from first: Int64, into database: any Database
) async throws(DatabaseFault) {
    let faults = await withTaskGroup(of: DatabaseFault?.self) { group in
        for code in first..<first + 10 {
            group.addTask { await fault { try await insert(code, into: database) } }
        }
        return await group.reduce(into: [DatabaseFault]()) { faults, fault in
            if let fault { faults.append(fault) }
        }
    }
    if let first = faults.first { throw first }
}
