// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import SQL
import SQLSupport
import Synchronization
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A check whether the server is ready")
struct HealthTests {
    /// Writes what the server's own checks write.
    private func beat(in store: any Transaction) throws(DatabaseFault) {
        let random: (padding: [UInt8], challenge: [UInt8])
        do {
            random = (try freshBytes(HeartbeatRows.paddingCount), try freshBytes(32))
        } catch { throw .broken("\(error)") }
        try store.heartbeats.beat(
            padding: random.padding, challenge: Challenge(random: random.challenge))
    }

    /// An up-to-date database through which nothing was written yet.
    private func reopened(_ place: TestDatabase) async throws -> any Database {
        let first = try place.open()
        try await first.migrate(Schema.steps)
        await first.close()
        return try place.open()
    }

    @Test(
        "makes one write, however many clients ask, and leaves no trace of it",
        arguments: Backend.allCases)
    func shared(backend: Backend) async throws {
        let place = try backend.make()
        let database = try await reopened(place)
        let beats = Atomic(0)
        let health = Health(database) { store throws(DatabaseFault) in
            beats.add(1, ordering: .relaxed)
            try self.beat(in: store)
        }
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { await health.isReady() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: true, count: 100))
        #expect(beats.load(ordering: .relaxed) == 1)
        let count = try await database.read { store throws(DatabaseFault) in
            try store.run("SELECT value FROM challenge").count
        }
        #expect(count == 0)
        await database.close()
    }

    @Test("makes none while calls write, until one fails", arguments: Backend.allCases)
    func traffic(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        func beats() async throws -> Int {
            try await server.rows("SELECT beats FROM heartbeat").count
        }
        _ = try await server.challenge(try TestDevice())
        #expect(try await server.send("GET", "/health/ready").status == 200)
        #expect(try await beats() == 0)
        await #expect(throws: DatabaseFault.self) {
            try await server.database.write { _ throws(DatabaseFault) in throw .full }
        }
        #expect(try await server.send("GET", "/health/ready").status == 200)
        #expect(try await beats() == 1)
        let counts = server.database.figures.faultCounts
        #expect(counts.map(\.kind) == [.full, .busy, .damaged, .unreachable, .other])
        #expect(counts.map(\.count) == [1, 0, 0, 0, 0])
    }

    @Test(
        "does not take a commit for a write that has changed nothing", arguments: Backend.allCases)
    func nothingWritten(backend: Backend) async throws {
        let place = try backend.make()
        for changes in [false, true] {
            let database = try await reopened(place)
            try await database.write { store throws(DatabaseFault) in
                _ = try store.change(
                    "UPDATE heartbeat SET beats = 0 WHERE id = $1", [.integer(2)])
                if changes { try self.beat(in: store) }
            }
            #expect(database.figures.hasWritten(within: .seconds(60)) == changes)
            #expect(!database.figures.hasFailed(within: .seconds(60)))
            await database.close()
        }
    }

    @Test(
        "fails where a page is damaged that calls write", arguments: ["challenge", "audit_time"])
    func damaged(table: String) async throws {
        let scratch = try Scratch()
        let path = scratch.at("database")
        let first = try SQLiteDatabase(path: path)
        try await first.migrate(Schema.steps)
        let root = try await first.read { store throws(DatabaseFault) in
            let rows = try store.run(
                "SELECT rootpage FROM sqlite_master WHERE name = $1", [.text(table)])
            return try rows.first?.integer(0)
        }
        await first.close()
        var bytes = try Layout.read(path)
        let start = (Int(try #require(root)) - 1) * 4_096
        for index in start..<start + 100 { bytes[index] = 0xa5 }
        try scratch.write("database", bytes)
        let database = try SQLiteDatabase(path: path)
        let health = Health(database) { store throws(DatabaseFault) in try self.beat(in: store) }
        #expect(await !health.isReady())
        #expect(database.figures.faultCounts.first { $0.kind == .damaged }?.count == 1)
        await database.close()
    }
}
