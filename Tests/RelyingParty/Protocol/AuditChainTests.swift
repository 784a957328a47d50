// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import Testing

@testable import RelyingParty

@Suite("The chain of the audit trail")
struct AuditChainTests {
    /// A server with 12 lines in its trail, sealed in two parts.
    private func server(_ backend: Backend) async throws -> TestServer {
        let server = try await TestServer.make(backend)
        try await server.note(7)
        #expect(try await server.service.auditChain.seal() == 7)
        try await server.note(5)
        #expect(try await server.service.auditChain.seal() == 5)
        return server
    }

    @Test("has each line once, in order, and says where it ends", arguments: Backend.allCases)
    func sound(backend: Backend) async throws {
        let server = try await server(backend)
        let report = try await server.service.auditChain.verify()
        #expect(report.lines == 12 && report.head.position == 12 && report.sealedNow == 0)
        #expect(report.pruned == .beginning)
        // By pages that end anywhere.
        for page in [1, 2, 5, 11, 12, 13] as [Int64] {
            #expect(try await server.service.auditChain.verify(page: page) == report)
        }
        try await server.note(1)
        let later = try await server.service.auditChain.verify(noted: report.head)
        #expect(later.head.position == 13 && later.sealedNow == 1)
        #expect(later.head.hash != report.head.hash)
    }

    @Test("is sound while it is empty", arguments: Backend.allCases)
    func empty(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let report = try await server.service.auditChain.verify()
        #expect(report.lines == 0 && report.head == .beginning)
        let told = try await server.administer("audit", "verify")
        #expect(told[0].hasPrefix("the audit trail is as it was sealed: 0 lines"))
    }

    @Test("shows each line that was removed", arguments: Backend.allCases)
    func removed(backend: Backend) async throws {
        let server = try await server(backend)
        for position in 1...12 as ClosedRange<Int64> {
            try await server.tampered(shows: .missingLine(position)) {
                try await server.set(
                    "DELETE FROM audit WHERE id = (SELECT audit FROM audit_link WHERE position = $1)",
                    [.integer(position)])
            }
            try await server.tampered(shows: position == 12 ? .cutOff(12) : .missingLink(position))
            {
                try await server.set(
                    "DELETE FROM audit WHERE id = (SELECT audit FROM audit_link WHERE position = $1)",
                    [.integer(position)])
                try await server.set(
                    "DELETE FROM audit_link WHERE position = $1", [.integer(position)])
            }
        }
    }

    @Test("shows a change of each column of a line", arguments: Backend.allCases)
    func altered(backend: Backend) async throws {
        let server = try await server(backend)
        let statements: [StaticString] = [
            "UPDATE audit SET time = time + 1 WHERE id = 5",
            "UPDATE audit SET application = application || 'x' WHERE id = 5",
            "UPDATE audit SET account = '' WHERE id = 5",
            "UPDATE audit SET registration = 'x' WHERE id = 5",
            "UPDATE audit SET event = 'logix' WHERE id = 5",
            "UPDATE audit SET outcome = 'refused' WHERE id = 5",
            "UPDATE audit SET address = '' WHERE id = 5",
            "UPDATE audit SET agent = agent || ' ' WHERE id = 5",
            "UPDATE audit SET detail = 'x' WHERE id = 5",
            "UPDATE audit SET api_key = 'other' WHERE id = 5",
            "UPDATE audit_link SET sealed = sealed - 1 WHERE position = 5",
            // The border between two columns moved, the text as a whole the same.
            "UPDATE audit SET application = 'sho', account = 'palice' WHERE id = 5",
        ]
        for statement in statements {
            try await server.tampered(shows: .altered(5)) {
                try await server.set(statement)
            }
        }
        try await server.tampered(shows: .altered(5)) {
            try await server.set(
                "UPDATE audit_link SET hash = (SELECT hash FROM audit_link WHERE position = 4) WHERE position = 5"
            )
        }
        // Another id is another line.
        try await server.tampered(shows: .altered(5)) {
            try await server.set("UPDATE audit SET id = 900 WHERE id = 5")
            try await server.set("UPDATE audit_link SET audit = 900 WHERE position = 5")
        }
    }

    @Test("shows lines that changed places", arguments: Backend.allCases)
    func swapped(backend: Backend) async throws {
        let server = try await server(backend)
        // What the links seal.
        try await server.tampered(shows: .altered(3)) {
            try await server.set("UPDATE audit_link SET audit = 900 WHERE position = 3")
            try await server.set("UPDATE audit_link SET audit = 3 WHERE position = 8")
            try await server.set("UPDATE audit_link SET audit = 8 WHERE position = 3")
        }
        // The positions.
        try await server.tampered(shows: .altered(3)) {
            try await server.set("UPDATE audit_link SET position = 900 WHERE position = 3")
            try await server.set("UPDATE audit_link SET position = 3 WHERE position = 4")
            try await server.set("UPDATE audit_link SET position = 4 WHERE position = 900")
        }
        // The lines.
        try await server.tampered(shows: .altered(3)) {
            try await server.set("UPDATE audit SET id = 900 WHERE id = 3")
            try await server.set("UPDATE audit SET id = 3 WHERE id = 8")
            try await server.set("UPDATE audit SET id = 8 WHERE id = 900")
        }
    }

    @Test("shows lines that were inserted, or added after its end", arguments: Backend.allCases)
    func inserted(backend: Backend) async throws {
        let server = try await server(backend)
        let hash = Value.bytes([UInt8](repeating: 7, count: 32))
        try await server.tampered(shows: .altered(7)) {
            try await server.set("UPDATE audit_link SET position = 0 - position WHERE position > 6")
            try await server.set("UPDATE audit_link SET position = 1 - position WHERE position < 0")
            try await server.note(1)
            try await server.set(
                """
                INSERT INTO audit_link (position, audit, sealed, hash)
                SELECT 7, MAX(id), 0, $1 FROM audit
                """, [hash])
            try await server.set("UPDATE audit_chain SET position = 13")
        }
        try await server.tampered(shows: .altered(13)) {
            try await server.note(1)
            try await server.set(
                """
                INSERT INTO audit_link (position, audit, sealed, hash)
                SELECT 13, MAX(id), 0, $1 FROM audit
                """, [hash])
        }
        // A line alone is sealed like any other, at the end, with the time when that was.
        let before = server.time.now
        server.time.pass(900)
        try await server.note(1, at: before - 86_400)
        let report = try await server.service.auditChain.verify()
        #expect(report.head.position == 13)
        let link = try await server.rows("SELECT sealed FROM audit_link WHERE position = 13")
        #expect(try link.first?.integer(0) == before + 900)
    }

    @Test("shows an end that was cut off, unless all that knows it was altered too")
    func cutOff() async throws {
        let server = try await server(.sqlite)
        let head = try await server.service.auditChain.verify().head
        try await server.tampered(shows: .cutOff(12)) {
            try await server.set("DELETE FROM audit WHERE id > 9")
            try await server.set("DELETE FROM audit_link WHERE position > 9")
        }
        // Only who has noted the head sees this.
        try await server.set("DELETE FROM audit WHERE id > 9")
        try await server.set("DELETE FROM audit_link WHERE position > 9")
        try await server.set(
            """
            UPDATE audit_chain SET position = 9,
                hash = (SELECT hash FROM audit_link WHERE position = 9)
            """)
        #expect(try await server.service.auditChain.verify().head.position == 9)
        await #expect(throws: AuditDamage.otherPlace(head)) {
            try await server.service.auditChain.verify(noted: head)
        }
        // Other lines at these positions have another hash.
        try await server.note(5)
        await #expect(throws: AuditDamage.otherPlace(head)) {
            try await server.service.auditChain.verify(noted: head)
        }
    }

    @Test("is continued only by the holder of its lock", arguments: Backend.allCases)
    func state(backend: Backend) async throws {
        let server = try await server(backend)
        try await server.tampered(shows: .continued(12)) {
            try await server.set("UPDATE audit_chain SET position = 11")
        }
        try await server.tampered(shows: .altered(12)) {
            try await server.set(
                "UPDATE audit_chain SET hash = (SELECT hash FROM audit_link WHERE position = 1)")
        }
        try await server.set("DELETE FROM audit_chain")
        let wanted = AuditDamage.database(.broken("the state of the audit trail is gone"))
        await #expect(throws: wanted) { try await server.service.auditChain.verify() }
    }

    @Test("seals lines that were committed late, after later ones", arguments: Backend.allCases)
    func late(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let chain = server.service.auditChain
        try await server.note(20)
        // Their transactions have not been committed yet.
        try await server.set("CREATE TABLE later AS SELECT * FROM audit WHERE id IN (10, 11)")
        try await server.set("DELETE FROM audit WHERE id IN (10, 11)")
        #expect(try await chain.seal() == 18)
        try await server.set("INSERT INTO audit SELECT * FROM later WHERE id = 10")
        #expect(try await chain.seal() == 1)
        server.time.pass(60)
        try await server.note(1)
        #expect(try await chain.seal() == 1)
        // Much later than any transaction lasts: it is found when all are looked at.
        try await server.set("INSERT INTO audit SELECT * FROM later WHERE id = 11")
        #expect(try await chain.seal() == 0)
        try await server.note(1)
        #expect(try await chain.seal() == 1)
        let report = try await chain.verify()
        #expect(report.sealedNow == 1 && report.head.position == 22)
        let order = try await server.rows(
            "SELECT audit FROM audit_link WHERE position >= 19 ORDER BY position")
        #expect(try order.map { try $0.integer(0) } == [10, 21, 22, 11])
    }

    @Test("is left alone while no lines are added", arguments: Backend.allCases)
    func idle(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        func swept() async throws -> Int64 {
            try await server.database.read { store throws(DatabaseFault) in
                try store.auditChain.state().swept
            }
        }
        for count in [3, 2] {
            try await server.note(count)
            #expect(try await server.service.auditChain.seal() == count)
        }
        for _ in 0..<2 {
            server.time.pass(30)
            #expect(try await server.service.auditChain.seal() == 0)
        }
        #expect(try await swept() == 5)
        let writes = server.database.figures.waits.snapshot.counts.reduce(0, +)
        server.time.pass(3_600)
        #expect(try await server.service.auditChain.seal() == 0)
        // One look, and no more.
        #expect(server.database.figures.waits.snapshot.counts.reduce(0, +) == writes + 1)
        try await server.note(1)
        #expect(try await server.service.auditChain.seal() == 1)
        #expect(try await server.service.auditChain.verify().lines == 6)
    }

    @Test("is one chain for lines from before it, however many", arguments: Backend.allCases)
    func backlog(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.note(1_300)
        #expect(try await server.service.auditChain.seal() == 1_300)
        #expect(try await server.service.auditChain.seal() == 0)
        #expect(try await server.service.auditChain.verify().lines == 1_300)
        // An id far away delays nothing.
        try await server.note(1)
        try await server.set(
            "UPDATE audit SET id = 4000000000000000000 WHERE id = (SELECT MAX(id) FROM audit)")
        try await server.note(1)
        try await server.set("UPDATE audit SET id = -7 WHERE id = 1302")
        #expect(try await server.service.auditChain.verify().lines == 1_302)
    }
}

extension TestServer {
    /// Adds lines to the audit trail, each different.
    func note(_ count: Int, at moment: Int64? = nil) async throws {
        let now = moment ?? time.now
        try await database.write { store throws(DatabaseFault) in
            for number in 0..<count {
                let entry = AuditEntry(
                    event: .login, outcome: "ok", application: "shop", account: "alice",
                    detail: "number \(number)")
                try store.auditTrail.note(
                    entry,
                    from: Origin(address: "192.0.2.1", agent: "test", apiKey: "key\(number)"),
                    at: now)
            }
        }
    }

    /// Changes what no call changes, with values.
    func set(_ sql: StaticString, _ values: [Value] = []) async throws {
        try await database.write { store throws(DatabaseFault) in _ = try store.run(sql, values) }
    }

    /// Runs `change`, expects that a check of the trail shows the damage, and undoes the change.
    func tampered(
        shows damage: AuditDamage, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: () async throws -> Void
    ) async throws {
        try await set("CREATE TABLE former_audit AS SELECT * FROM audit")
        try await set("CREATE TABLE former_link AS SELECT * FROM audit_link")
        try await set("CREATE TABLE former_chain AS SELECT * FROM audit_chain")
        try await change()
        await #expect(throws: damage, sourceLocation: sourceLocation) {
            try await self.service.auditChain.verify(page: 4)
        }
        for undo in [
            "DELETE FROM audit", "DELETE FROM audit_link", "DELETE FROM audit_chain",
            "INSERT INTO audit SELECT * FROM former_audit",
            "INSERT INTO audit_link SELECT * FROM former_link",
            "INSERT INTO audit_chain SELECT * FROM former_chain", "DROP TABLE former_audit",
            "DROP TABLE former_link", "DROP TABLE former_chain",
        ] as [StaticString] {
            try await set(undo)
        }
        let report = try await service.auditChain.verify()
        #expect(report.lines > 0, sourceLocation: sourceLocation)
    }
}
