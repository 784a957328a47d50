// SPDX-License-Identifier: Apache-2.0
import Foundation
import SQL
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The audit trail of running servers")
struct AuditExportTests {
    /// What an independent program makes of an export: the last place, or what is wrong.
    private func judge(_ lines: [String]) throws -> Outcome {
        let script = "\(Layout.package)/Tests/RelyingParty/Fixtures/Judges/trail.py"
        let scratch = try Scratch()
        try scratch.write("trail", lines.map { $0 + "\n" }.joined())
        return try Program(Command(["/usr/bin/python3", script, scratch.at("trail")]))
            .expectEnd()
    }

    private func objects(_ lines: [String]) throws -> [[String: Any]] {
        try lines.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try #require(object as? [String: Any])
        }
    }

    @Test(
        "is exported in the order of the chain, and others can check it",
        arguments: Backend.allCases)
    func judged(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        device.account = "ali\u{e7}e \"x\" \u{1f600}"
        try await server.register(device)
        _ = try await server.logIn(device)
        try await server.note(1_100)
        let lines = try await server.administer("audit", "export")
        let report = try await server.service.auditChain.verify()
        #expect(lines.count == Int(report.lines))
        let outcome = try judge(lines)
        #expect(outcome.output == report.head.text + "\n", "\(outcome.errors)")
        let told = try await server.administer("audit", "verify")
        #expect(told.last == "head: \(report.head.text)")
        // The judge sees what verify would.
        #expect(try judge(lines.filter { !$0.contains("number 7\"") }).errors.contains("wrong at"))
        #expect(!(try judge(lines.map { $0.replacing("number 7\"", with: "\"") }).succeeded))
        #expect(!(try judge(lines.reversed()).succeeded))
        let positions = try objects(lines).map { $0["position"] as? Int }
        #expect(positions == (1...lines.count).map { $0 })
    }

    @Test("is exported for one application, and from a time on", arguments: Backend.allCases)
    func filtered(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        _ = try await server.makeApplication("bank")
        try await server.note(3)
        #expect(await server.fault("account", "block", "shop", "nobody")?.status == 3)
        server.time.pass(7_200)
        try await server.note(2)
        let all = try await server.administer("audit", "export")
        let late = try await server.administer("audit", "export", "--since", "1h")
        #expect(late.count == 2 && all.suffix(2) == late[...])
        #expect(try await server.administer("audit", "export", "--application", "bank").isEmpty)
        let shop = try await server.administer(
            "audit", "export", "--application", "shop", "--since", "1h", "--json")
        #expect(shop == late)
        let object = try #require(try objects(late).first)
        #expect(
            Set(object.keys) == [
                "position", "hash", "sealed", "id", "time", "event", "outcome", "application",
                "account", "registration", "address", "agent", "detail", "apiKey",
            ])
        #expect(await server.fault("audit", "export", "--since", "soon")?.status == 2)
    }

    @Test("is checked against a place that was noted", arguments: Backend.allCases)
    func noted(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.note(4)
        let told = try await server.administer("audit", "verify", "--json")
        let head = try #require(try objects(told)[0]["head"] as? String)
        try await server.note(4)
        try await server.administer("audit", "verify", "--head", head)
        for wrong in ["4", "4:", ":", "x:00", "+" + head, "0" + head, head + "0", "-" + head] {
            #expect(await server.fault("audit", "verify", "--head", wrong)?.status == 2, "\(wrong)")
        }
        for other in ["5" + head.dropFirst(), "9" + head.dropFirst()] {
            let fault = await server.fault("audit", "verify", "--head", other)
            #expect(fault?.status == 1 && fault?.text.contains("--head") == true)
        }
        try await server.set("UPDATE audit SET detail = '' WHERE id = 3")
        let fault = await server.fault("audit", "verify")
        #expect(fault?.status == 1)
        #expect(fault?.text.contains("the line at position 3 is not the one that was") == true)
    }

    @Test("is one chain of all that two servers write at once", arguments: Backend.allCases)
    func twoServers(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let first = try ServerProcess(home)
        let second = try ServerProcess(home, apiKey: first.apiKey)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, server) in [first, second, first, second].enumerated() {
                group.addTask {
                    for round in 0..<40 {
                        let reply = try await server.ask(
                            "POST", "/v1/activations", ["account": "a\(number)x\(round)"])
                        #expect(reply.status == 201)
                    }
                }
            }
            group.addTask { () async throws -> Void in
                for _ in 0..<3 {
                    let checked = try home.administer("audit", "verify")
                    #expect(checked.ending == .exited(0), "\(checked.errors)")
                }
            }
            try await group.waitForAll()
        }
        // The servers themselves seal what is new, within about a second.
        let database = try TestDatabase.opened(home.place)
        var isSealed = false
        for _ in 0..<1_000 where !isSealed {
            let missing = try await database.read { store throws(DatabaseFault) in
                try store.run(
                    """
                    SELECT 1 FROM audit a LEFT JOIN audit_link l ON l.audit = a.id
                    WHERE l.audit IS NULL LIMIT 1
                    """)
            }
            isSealed = missing.isEmpty
            // Time itself is awaited: that the servers come to it.
            if !isSealed { try await Task.sleep(for: .milliseconds(20)) }
        }
        #expect(isSealed)
        await database.close()
        let checked = try home.administer("audit", "verify", "--json")
        #expect(checked.output.contains(#""sealedNow":0"#), "\(checked.errors)")
        let lines = try home.administer("audit", "export").output.split(separator: "\n")
        let events = try objects(lines.map(String.init)).filter {
            $0["event"] as? String == "activation" && $0["apiKey"] as? String == "test"
        }
        #expect(events.count == 160)
        #expect(try judge(lines.map(String.init)).succeeded)
        try first.stop()
        // Its last uses are stored when it stops.
        let keys = try home.administer("key", "list", "shop", "--json").output
        #expect(keys.contains(#""lastUsed":1"#), "\(keys)")
        try second.stop()
    }

    @Test("continues from the end that a restored backup has", arguments: Backend.allCases)
    func restored(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let server = try ServerProcess(home)
        for number in 0..<5 {
            _ = try await server.ask("POST", "/v1/activations", ["account": "a\(number)"])
        }
        func head(_ home: ServerHome) throws -> String {
            let told = try home.administer("audit", "verify", "--json").output
            return try #require(try objects([told])[0]["head"] as? String)
        }
        let before = try head(home)
        let copy = try home.copied()
        _ = try await server.ask("POST", "/v1/activations", ["account": "later"])
        let after = try head(home)
        try server.stop()
        let other = try ServerHome(copy)
        try other.scratch.write("master-secret", try home.scratch.read("master-secret"))
        #expect(try other.administer("after-restore").ending == .exited(0))
        #expect(try other.administer("audit", "verify", "--head", before).ending == .exited(0))
        let lost = try other.administer("audit", "verify", "--head", after)
        #expect(lost.ending == .exited(1))
        #expect(lost.errors.contains("or comes from a backup"))
        let restored = try ServerProcess(other, apiKey: server.apiKey)
        _ = try await restored.ask("POST", "/v1/activations", ["account": "anew"])
        try restored.stop()
        #expect(try other.administer("audit", "verify", "--head", before).ending == .exited(0))
    }
}

extension TestDatabase {
    /// Opens a database that belongs to others.
    static func opened(_ place: Place) throws(DatabaseFault) -> any Database {
        switch place {
        case .sqlite(let path): try SQLiteDatabase(path: path)
        case .postgreSQL(let connection): try PostgreSQLDatabase(connection: connection)
        }
    }
}

extension ServerHome {
    /// A copy of the database, made by the database's own means while it is used.
    func copied() throws -> TestDatabase.Place {
        switch place {
        case .postgreSQL(let connection):
            return .postgreSQL(try Shared.server.get().copyByDump(connection))
        case .sqlite(let path):
            let script =
                "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('VACUUM INTO ?', [sys.argv[2]])"
            let copy = scratch.at("backup.db")
            let outcome = try Program(Command(["python3", "-c", script, path, copy])).expectEnd()
            guard outcome.succeeded else { throw Unexpected(outcome.errors) }
            return .sqlite(copy)
        }
    }
}
