// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import ServerAPI
import Synchronization
import TestSupport
import Testing

@testable import RelyingParty

@Suite("Housekeeping")
struct HousekeepingTests {
    @Test("forgets the rest where one table cannot be cleared", arguments: Backend.allCases)
    func oneFault(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let service = Service(
            database: server.database, keys: server.service.keys, clock: server.time.clock,
            issuer: "https://id.example.org", auditDays: 1)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        let header = try device.header(try device.statement(at: server.time.now))
        #expect(try await server.refusal(of: header) == nil)
        try await server.database.write { store throws(DatabaseFault) in
            _ = try store.run("ALTER TABLE challenge RENAME TO elsewhere")
        }
        server.time.pass(10 * 86_400)
        await service.maintenance.forgetOld()
        for gone in [
            try await server.rows("SELECT expires FROM nonce"),
            try await server.rows("SELECT hash FROM refresh_token"),
            try await server.rows("SELECT id FROM token_session"),
        ] {
            #expect(gone.isEmpty)
        }
        // Of the audit trail, what says that the rest was deleted.
        let left = try await server.rows("SELECT detail FROM audit")
        #expect(left.count == 1)
        #expect(try left.first?.text(0).hasPrefix("audit.keep 1 through ") == true)
    }

    @Test("deletes nothing more once the clock cannot be believed", arguments: Backend.allCases)
    func unsteady(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.database.write { store throws(DatabaseFault) in
            _ = try store.run(
                """
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
                INSERT INTO audit (time, application, account, registration, event, outcome,
                    address, agent, detail)
                SELECT 0, '', '', '', 'login', 'ok', '', '', '' FROM n
                """)
        }
        let service = Service(
            database: server.database, keys: server.service.keys, clock: server.time.clock,
            issuer: "https://id.example.org", auditDays: 1)
        func lines() async throws -> Int { try await server.rows("SELECT id FROM audit").count }
        let all = try await lines()
        await service.maintenance.forgetOld { false }
        #expect(try await lines() == all)
        var looks = 0
        await service.maintenance.forgetOld {
            looks += 1
            return looks == 1
        }
        #expect(try await lines() == all - 1_000 + 1)
        await service.maintenance.forgetOld()
        #expect(try await lines() == all - 2_500 + 1)
    }

    @Test("reloads the keys even while old rows take long to be deleted")
    func longBacklog() async throws {
        let server = try await TestServer.make(.sqlite)
        let held = HeldDatabase(server.database)
        let service = Service(
            database: held, keys: server.service.keys, clock: server.time.clock,
            issuer: "https://id.example.org")
        let house = Task {
            await service.maintenance.runMaintenance(
                every: .milliseconds(5), keysEvery: .milliseconds(5))
        }
        // What is old is forgotten once the clock has proven itself.
        try await until {
            server.time.pass(120)
            return held.isWriting
        }
        let key = try server.service.keys.fresh()
        let now = server.time.now
        try await server.database.write { store throws(DatabaseFault) in
            try store.signingKeys.endSigningKey(.token, at: now)
            _ = try store.signingKeys.keep(key, for: .token, at: now)
        }
        try await until { service.keys.verifying.count == 2 }
        house.cancel()
        held.release()
        await house.value
    }
}

/// Looks until something is so, for ten seconds at the most.
func until(_ isSo: () -> Bool) async throws {
    for _ in 0..<2_000 where !isSo() {
        // The event is awaited: that a task has reached it.
        try await Task.sleep(for: .milliseconds(5))
    }
    #expect(isSo())
}

/// A database whose writes wait until they are released.
private final class HeldDatabase: Database {
    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isReleased = false
    }

    private let inner: any Database
    private let state = Mutex(State())

    init(_ inner: any Database) { self.inner = inner }

    var figures: DatabaseFigures { inner.figures }

    /// Whether a task waits to write.
    var isWriting: Bool { state.withLock { !$0.waiting.isEmpty } }

    func release() {
        let waiting = state.withLock { state in
            state.isReleased = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func perform(
        _ access: Access,
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> Void
    ) async throws(DatabaseFault) {
        if access == .write { await pass() }
        try await inner.perform(access, body)
    }

    func close() async { await inner.close() }

    private func pass() async {
        await withCheckedContinuation { continuation in
            let isReleased = state.withLock { state in
                if !state.isReleased { state.waiting.append(continuation) }
                return state.isReleased
            }
            if isReleased { continuation.resume() }
        }
    }
}
