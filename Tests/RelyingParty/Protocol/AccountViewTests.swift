// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("What an application is shown of an account")
struct AccountViewTests {
    private static let views = ["operations", "audit"]

    /// The members of a list.
    private func list(
        _ server: TestServer, _ view: String, of name: String = "alice", key: String? = nil
    ) async throws -> [[String: Any]] {
        let reply = try await server.send(
            "GET", "/v1/accounts/\(name)/\(view)", key: key ?? server.apiKey)
        #expect(reply.status == 200)
        return try #require(
            reply[view == "audit" ? "entries" : "operations"] as? [[String: Any]])
    }

    private func events(_ server: TestServer) async throws -> [String] {
        try await list(server, "audit").compactMap { $0["event"] as? String }
    }

    @Test("are its operations and logins, newest first", arguments: Backend.allCases)
    func operations(backend: Backend) async throws {
        let (server, device) = try await TestServer.withVisitors(backend)
        try await server.makeTemplate()
        for number in 0..<60 {
            let id = try await server.operation([
                "account": "alice", "template": "payment",
                "data": ["amount": "\(number)", "payee": "Bob"],
            ])
            _ = try await server.decide(id, .reject, by: device)
        }
        let login = try await server.beginForVisitor()
        let shown = try await list(server, "operations")
        #expect(shown.count == 50)
        #expect(shown[0]["operation"] as? String == (try login.text("operation")))
        #expect(shown[0]["purpose"] as? String == "login")
        #expect(shown[0]["status"] as? String == "PENDING")
        #expect(shown[1]["purpose"] as? String == "operation")
        #expect(shown[1]["status"] as? String == "REJECTED")
        #expect(shown[1]["data"] as? String == "pay 59 EUR\nto Bob")
        #expect(shown[1]["registration"] as? String == device.registration)
        // Neither the secret that confirms a login nor what a device signs.
        for operation in shown {
            #expect(operation["session"] == nil && operation["challenge"] == nil)
        }
        #expect(try await list(server, "audit").count == 50)
    }

    @Test("are the lines of its audit trail, without their details", arguments: Backend.allCases)
    func audit(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        let lines = try await list(server, "audit")
        #expect(
            lines.compactMap { $0["event"] as? String }
                == ["login", "registration", "registration", "activation"])
        #expect(lines[0]["outcome"] as? String == "ok")
        #expect(lines[0]["factor"] as? String == "fingerprint")
        #expect(lines[0]["registration"] as? String == device.registration)
        #expect(lines[0]["address"] as? String == "192.0.2.1")
        #expect(lines[2]["outcome"] as? String == "begun" && lines[2]["factor"] == nil)
        #expect(lines[3]["factor"] == nil && lines[3]["registration"] == nil)
        for line in lines { #expect(line["detail"] == nil && line["account"] == nil) }
    }

    @Test(
        "are those of the caller's own application, and of no other", arguments: Backend.allCases)
    func foreign(backend: Backend) async throws {
        let (server, device) = try await TestServer.withVisitors(backend)
        let begun = try await server.beginForVisitor()
        _ = try await server.decide(try begun.text("operation"), by: device)
        let bank = try await server.makeApplication("bank")
        for view in Self.views {
            #expect(try await !list(server, view).isEmpty)
            #expect(try await list(server, view, key: bank).isEmpty)
            // Also where the other application has an account of that name.
            let path = "/v1/accounts/alice/\(view)"
            for key in [nil, "sgk_" + String(repeating: "A", count: 43), "", bank + "A"] {
                let reply = try await server.send("GET", path, key: key)
                #expect(reply.status == 401 && reply.code == "api-key-refused")
            }
        }
        _ = try await server.send(
            "POST", "/v1/activations", ["account": "alice"], key: bank)
        #expect(try await list(server, "operations", key: bank).isEmpty)
        #expect(
            try await list(server, "audit", key: bank).compactMap { $0["event"] as? String }
                == ["activation"])
        // A device has no business there.
        let request = TestRequest(method: "GET", resource: "/v1/accounts/alice/audit", body: [])
        let header = try device.header(try device.statement(of: request, at: server.time.now))
        let reply = try await server.send(
            "GET", "/v1/accounts/alice/audit", headers: [("authorization", header)])
        #expect(reply.status == 401)
    }

    @Test("are empty for an account that does not exist, and a name is decoded once")
    func names() async throws {
        let server = try await TestServer.make(.sqlite)
        let device = try TestDevice()
        device.account = "a/b%2f é"
        try await server.register(device)
        for view in Self.views {
            #expect(try await list(server, view, of: "nobody").isEmpty)
            for name in ["%", "%zz", "%00", "%ff", String(repeating: "a", count: 129)] {
                let reply = try await server.ask("GET", "/v1/accounts/\(name)/\(view)")
                #expect(reply.status == 404, "\(name)")
            }
        }
        #expect(try await !list(server, "audit", of: "a%2fb%252f%20%c3%a9").isEmpty)
        #expect(try await list(server, "audit", of: "a%2fb%2f%20%c3%a9").isEmpty)
    }

    @Test(
        "are not those of another account that had its name before", arguments: Backend.allCases)
    func anothersName(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        #expect(
            try await events(server) == ["login", "registration", "registration", "activation"])
        // All of it within one second.
        try await server.administer("application", "remove", "shop", "--devices", "remove")
        try await server.administer("application", "add", "shop")
        try await server.administer("activation", "add", "shop", "alice")
        let key = try #require(try await server.administer("key", "add", "shop", "new").first)
        let lines = try await list(server, "audit", key: key)
        #expect(lines.compactMap { $0["event"] as? String } == ["activation"])
        // The trail itself has all of them.
        #expect(try await server.audited("login", "ok") == 1)
    }

    /// Lines of other accounts, so many that it costs to look through them.
    private static let lines: StaticString = """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO audit (time, application, account, registration, event, outcome, address,
            agent, detail)
        SELECT 1, 'shop', 'a' || i % 50, '', 'login', 'ok', '', '', '' FROM n
        """

    @Test("are found by an index, and not by looking through the trail")
    func plan() async throws {
        let sqlite: StaticString = """
            EXPLAIN QUERY PLAN
            SELECT time, event, outcome, application, account, registration, address, agent, detail,
                api_key
            FROM audit
            WHERE application = $1 AND account = $2 AND id > (SELECT trail FROM account WHERE id = $3)
            ORDER BY id DESC LIMIT $4
            """
        let postgreSQL: StaticString = """
            EXPLAIN
            SELECT time, event, outcome, application, account, registration, address, agent, detail,
                api_key
            FROM audit
            WHERE application = $1 AND account = $2 AND id > (SELECT trail FROM account WHERE id = $3)
            ORDER BY id DESC LIMIT $4
            """
        for (backend, question, column) in [
            (Backend.sqlite, sqlite, 3), (.postgreSQL, postgreSQL, 0),
        ] {
            #expect("\(question)".hasSuffix("\(AccountTrailQuery.sql)"))
            let server = try await TestServer.make(backend)
            try await server.change(Self.lines)
            if backend == .postgreSQL { try await server.change("ANALYZE audit") }
            let plan = try await server.rows(
                question, [.text("shop"), .text("a7"), .integer(1), .integer(50)])
            let text = try plan.map { try $0.text(column) }.joined(separator: "\n")
            #expect(text.contains("audit_account"), "\(text)")
            #expect(!text.contains("SCAN") && !text.contains("Seq Scan on audit"), "\(text)")
            #expect(!text.contains("TEMP B-TREE") && !text.contains("Sort"), "\(text)")
        }
    }
}
