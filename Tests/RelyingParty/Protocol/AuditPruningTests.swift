// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import Testing

@testable import RelyingParty

@Suite("Pruning of the audit trail")
struct AuditPruningTests {
    private static let day: Int64 = 86_400

    /// Ten lines a day for five days, each day sealed.
    private func server(_ backend: Backend) async throws -> TestServer {
        let server = try await TestServer.make(backend)
        for _ in 0..<5 {
            try await server.note(10)
            _ = try await server.service.auditChain.seal()
            server.time.pass(Self.day)
        }
        return server
    }

    private func keeping(_ days: Int, _ server: TestServer) -> Maintenance {
        Service(
            database: server.database, keys: server.service.keys, clock: server.time.clock,
            issuer: "https://id.example.org", auditDays: days
        ).maintenance
    }

    @Test("leaves a chain that is sound, and begins where a line says", arguments: Backend.allCases)
    func sound(backend: Backend) async throws {
        let server = try await server(backend)
        let noted = try await server.service.auditChain.verify().head
        let told = try await server.administer("audit", "prune", "--before", "60h")
        #expect(told[0].hasPrefix("30 lines older than "))
        let report = try await server.service.auditChain.verify(noted: noted)
        #expect(report.pruned.position == 30 && report.head.position == 51)
        let line = try await server.administer("audit", "--event", "administration", "--json")[0]
        #expect(line.contains("through \(report.pruned.text)\""))
        // A place that is gone is not part of the chain any more; the last one that is gone is known.
        _ = try await server.service.auditChain.verify(noted: report.pruned)
        let gone = AuditPosition(position: 12, hash: noted.hash)
        await #expect(throws: AuditDamage.placePruned(upTo: report.pruned)) {
            try await server.service.auditChain.verify(noted: gone)
        }
        #expect(await server.fault("audit", "verify", "--head", gone.text)?.status == 3)
        #expect(try await server.service.auditChain.verify(page: 3) == report)
    }

    @Test("that no administrator did is a removal", arguments: Backend.allCases)
    func faked(backend: Backend) async throws {
        let server = try await server(backend)
        let fake: () async throws -> Void = {
            try await server.set(
                """
                UPDATE audit_chain SET pruned = 20,
                    pruned_hash = (SELECT hash FROM audit_link WHERE position = 20), goal = 20
                """)
            try await server.set(
                """
                DELETE FROM audit WHERE id IN (SELECT audit FROM audit_link WHERE position <= 20)
                """)
            try await server.set("DELETE FROM audit_link WHERE position <= 20")
        }
        try await server.tampered(shows: .notPruned(20), fake)
        // One that says another place does not help.
        try await server.administer("audit", "prune", "--before", "108h")
        #expect(try await server.service.auditChain.verify().pruned.position == 10)
        try await server.tampered(shows: .notPruned(20), fake)
        try await server.tampered(shows: .altered(21)) {
            try await fake()
            try await server.set(
                "UPDATE audit_chain SET pruned_hash = (SELECT hash FROM audit_link WHERE position = 40)"
            )
        }
    }

    @Test("that was interrupted is sound, and continues", arguments: Backend.allCases)
    func interrupted(backend: Backend) async throws {
        let server = try await server(backend)
        let chain = server.service.auditChain
        let now = server.time.now
        let begun = try await chain.recordPrune(
            before: now - Self.day, what: "audit prune --before x",
            by: Origin(address: "administrator", agent: ""))
        #expect(begun)
        #expect(try await chain.verify().pruned == .beginning)
        func some(_ most: Int64) async throws -> Bool {
            try await server.database.write { store throws(DatabaseFault) in
                try store.pruneSome(most: most, at: now).isOver
            }
        }
        for round in 1...5 as ClosedRange<Int64> {
            #expect(try await !some(7))
            let report = try await chain.verify(page: 5)
            #expect(report.pruned.position == 7 * round)
        }
        // The next one finishes it, whoever runs it.
        await keeping(2, server).forgetOld()
        #expect(try await chain.verify().pruned.position == 40)
        #expect(try await some(7))
    }

    @Test("by a setting is done for whole days, with a line for each", arguments: Backend.allCases)
    func bySetting(backend: Backend) async throws {
        let server = try await server(backend)
        let maintenance = keeping(2, server)
        for _ in 0..<3 { await maintenance.forgetOld() }
        let report = try await server.service.auditChain.verify()
        #expect(report.pruned.position == 30)
        func told() async throws -> [String] {
            try await server.rows(
                "SELECT detail FROM audit WHERE event = 'administration' ORDER BY id"
            ).map { try $0.text(0) }
        }
        #expect(try await told() == ["audit.keep 2 through \(report.pruned.text)"])
        server.time.pass(Self.day)
        for _ in 0..<3 { await maintenance.forgetOld() }
        #expect(try await server.service.auditChain.verify().pruned.position == 40)
        #expect(try await told().count == 2)
        server.time.pass(Self.day * 10)
        await maintenance.forgetOld()
        #expect(try await server.service.auditChain.verify().pruned.position == 50)
        // Lines of that kind go with older ones, and cause none of their own.
        server.time.pass(Self.day * 10)
        await maintenance.forgetOld()
        #expect(try await told().count == 3)
        try await server.note(1)
        server.time.pass(Self.day * 10)
        await maintenance.forgetOld()
        #expect(try await told().count == 1)
        #expect(try await server.service.auditChain.verify().lines == 1)
    }

    @Test("keeps lines about prunes of administrators, sealed again", arguments: Backend.allCases)
    func kept(backend: Backend) async throws {
        let server = try await server(backend)
        try await server.administer("audit", "prune", "--before", "60h")
        server.time.pass(Self.day * 5)
        try await server.note(3)
        try await server.administer("audit", "prune", "--before", "1d")
        #expect(try await server.service.auditChain.verify().pruned.position == 50)
        server.time.pass(Self.day * 5)
        try await server.note(1)
        try await server.administer("audit", "prune", "--before", "1d")
        let lines = try await server.rows(
            "SELECT detail FROM audit WHERE event = 'administration'")
        #expect(lines.count == 3)
        let report = try await server.service.auditChain.verify()
        #expect(report.pruned.position == 54 && report.head.position == 58)
        // The first one, which is now the last, is seen like any other if it is altered.
        try await server.tampered(shows: .altered(58)) {
            try await server.set(
                """
                UPDATE audit SET detail = 'audit prune --before y'
                WHERE id = (SELECT audit FROM audit_link WHERE position = 58)
                """)
        }
        let first = try await server.rows(
            """
            SELECT a.detail FROM audit a JOIN audit_link l ON l.audit = a.id
            WHERE l.position = 58
            """)
        #expect(try first.first?.text(0).contains("through 30:") == true)
    }

    @Test("deletes nothing behind a newer line, and is not stopped by a time to come")
    func wrongClock() async throws {
        let server = try await TestServer.make(.sqlite)
        let now = server.time.now
        for moment in [now - 900, now + 1_000_000, now - 800, now, now - 700, now - 900] {
            try await server.note(1, at: moment)
            _ = try await server.service.auditChain.seal()
        }
        try await server.administer("audit", "prune", "--before", "10min")
        let left = try await server.rows("SELECT time FROM audit WHERE event = 'login' ORDER BY id")
        #expect(try left.map { try $0.integer(0) } == [now, now - 700, now - 900])
        #expect(try await server.service.auditChain.verify().pruned.position == 3)
    }

    @Test("beside writers and a sealer leaves one sound chain", arguments: Backend.allCases)
    func beside(backend: Backend) async throws {
        let server = try await server(backend)
        let chain = server.service.auditChain
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.administer("audit", "prune", "--before", "36h")
            }
            group.addTask { for _ in 0..<20 { try await server.note(3) } }
            group.addTask { for _ in 0..<20 { _ = try await chain.seal() } }
            group.addTask { for _ in 0..<10 { _ = try await chain.verify(page: 3) } }
            try await group.waitForAll()
        }
        let report = try await chain.verify()
        #expect(report.pruned.position == 40 && report.head.position == 111)
    }
}
