// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("A login that is begun for a visitor")
struct VisitorLoginTests {
    /// How many logins await alice.
    private func waiting(_ server: TestServer) async throws -> Int {
        try await server.rows(
            "SELECT id FROM operation WHERE status = 'PENDING' AND expires > $1",
            [.integer(server.time.now)]
        ).count
    }

    @Test("is approved and confirmed as any other", arguments: Backend.allCases)
    func approved(backend: Backend) async throws {
        let (server, device) = try await TestServer.withVisitors(backend)
        let begun = try await server.beginForVisitor(from: "2001:db8::7")
        #expect(begun.status == 201)
        #expect(begun["data"] as? String == "sign in from 2001:db8::7\nthe page shows ABC-234")
        let operation = try begun.text("operation")
        #expect(try await server.detail(operation, for: device).data == begun["data"] as? String)
        let state = try await server.ask("GET", "/v1/operations/\(operation)")
        #expect((state["additional"] as? [String: String])?["address"] == "2001:db8::7")
        #expect(state["purpose"] as? String == "login")
        #expect(try await server.decide(operation, by: device).status == 200)
        #expect(try await server.confirm(begun).status == 200)
        #expect(try await server.confirm(begun).code == "conflict")
    }

    @Test("has the address of the visitor, unless the application gives another value for it")
    func address() async throws {
        let (server, _) = try await TestServer.withVisitors(.sqlite)
        let wish: [String: Any] = [
            "account": "alice", "template": "sign-in", "visitor": "192.0.2.9",
            "data": ["code": "X", "address": "the shop in Berlin"],
            "additional": ["address": "192.0.2.10", "agent": "test"],
        ]
        let begun = try await server.ask("POST", "/v1/login/init", wish)
        #expect(begun["data"] as? String == "sign in from the shop in Berlin\nthe page shows X")
        let state = try await server.ask("GET", "/v1/operations/\(try begun.text("operation"))")
        #expect(
            state["additional"] as? [String: String] == ["address": "192.0.2.10", "agent": "test"])
        // A template that does not show an address is filled as before.
        try await server.makeTemplate("plain", "sign in: {code}", purpose: .login)
        let plain = try await server.ask(
            "POST", "/v1/login/init",
            [
                "account": "alice", "template": "plain", "visitor": "192.0.2.9",
                "data": ["code": "X"],
            ])
        #expect(plain["data"] as? String == "sign in: X")
    }

    @Test(
        "is refused for an invalid address, for operations, and together with a device",
        arguments: Backend.allCases)
    func refused(backend: Backend) async throws {
        let (server, device) = try await TestServer.withVisitors(backend)
        for visitor in [
            "", "unknown", "192.0.2.1:80", "[::1]", "fe80::1%eth0", "192.0.2.1\u{0}", " 192.0.2.1",
            String(repeating: "1", count: 4_000),
        ] {
            let reply = try await server.beginForVisitor(from: visitor)
            #expect(reply.status == 400 && reply.code == "malformed", "\(visitor)")
        }
        let wish: [String: Any] = [
            "account": "alice", "template": "sign-in", "visitor": "192.0.2.9",
            "data": ["code": "X"],
        ]
        for (name, value) in [
            ("visitor", 7), ("visitor", ["192.0.2.9"]), ("device", hexadecimal(device.id)),
            ("data", [:] as [String: String]), ("expiresIn", 1_000),
        ] as [(String, Any)] {
            let reply = try await server.ask(
                "POST", "/v1/login/init", wish.merging([name: value]) { $1 })
            #expect(reply.status == 400 && reply.code == "malformed", "\(name)")
        }
        try await server.makeTemplate()
        let operation = try await server.ask(
            "POST", "/v1/operations", TestServer.payment.merging(["visitor": "192.0.2.9"]) { $1 })
        #expect(operation.status == 400)
        // The faults of the application itself are told, of whichever account.
        for account in ["alice", "nobody"] {
            for (template, status) in [("none", 404), ("payment", 409)] {
                let reply = try await server.ask(
                    "POST", "/v1/login/init",
                    wish.merging(["account": account, "template": template]) { $1 })
                #expect(reply.status == status, "\(account) \(template)")
            }
        }
        #expect(try await server.rows("SELECT id FROM operation").isEmpty)
        // Without the application's key there is none.
        let bare = try await server.send("POST", "/v1/login/init", wish)
        #expect(bare.status == 401)
    }

    @Test(
        "looks alike for an existing account, an unknown one, a blocked one and one too busy",
        arguments: Backend.allCases)
    func unknown(backend: Backend) async throws {
        let (server, _) = try await TestServer.withVisitors(backend)
        let blocked = try TestDevice(id: 0xd2)
        blocked.account = "blocked"
        try await server.register(blocked)
        try await server.change("UPDATE account SET blocked = 1 WHERE name = 'blocked'")
        func count() -> Int { server.database.figures.waits.snapshot.counts.reduce(0, +) }
        var looks: Set<String> = []
        // Two of one network wait for alice, and no more.
        for name in ["nobody", "blocked", "alice", "alice", "alice", "alice"] {
            let trail = try await server.rows("SELECT id FROM audit").count
            let before = count()
            let begun = try await server.beginForVisitor(name)
            let work = count() - before
            let lines = try await server.rows("SELECT id FROM audit").count - trail
            let operation = try begun.text("operation")
            let session = try begun.text("session")
            #expect(OperationID(text: operation) != nil && session.hasPrefix("sgs_"))
            looks.insert(
                "\(begun.status) \(begun.members.keys.sorted()) \(begun["data"] ?? "") "
                    + "\(begun["expires"] ?? "") \(begun["status"] ?? "") \(session.utf8.count) "
                    + "\(work) transactions, \(lines) lines")
        }
        #expect(looks.count == 1, "\(looks)")
        #expect(try await server.rows("SELECT id FROM operation").count == 2)
        #expect(try await server.audited("operation-created", "not-found") == 1)
        #expect(try await server.audited("operation-created", "conflict") == 3)
        #expect(try await server.audited("operation-created", "ok") == 2)
    }

    @Test("that was only pretended is unknown, and gives no tokens")
    func pretended() async throws {
        let (server, _) = try await TestServer.withVisitors(.sqlite)
        let begun = try await server.beginForVisitor("nobody")
        let path = "/v1/operations/\(try begun.text("operation"))"
        #expect(try await server.ask("GET", path).code == "not-found")
        #expect(try await server.ask("POST", path + "/cancel", [:]).code == "not-found")
        #expect(try await server.confirm(begun).code == "not-found")
        #expect(try await server.rows("SELECT id FROM account WHERE name = 'nobody'").isEmpty)
    }

    @Test(
        "takes no place of the application's other logins, whatever visitor begins it",
        arguments: Backend.allCases)
    func places(backend: Backend) async throws {
        let (server, device) = try await TestServer.withVisitors(backend)
        for number in 0..<8 {
            _ = try await server.beginForVisitor(from: "198.51.100.\(number)")
        }
        #expect(try await waiting(server) == 3)
        let wish = ["account": "alice", "template": "login"]
        try await server.makeTemplate("login", "log in", purpose: .login)
        for number in 1...6 {
            let begun = try await server.ask("POST", "/v1/login/init", wish)
            #expect(begun.status == (number < 6 ? 201 : 409), "\(number)")
        }
        #expect(try await waiting(server) == 8)
        #expect(try await server.awaited(by: device).count == 8)
        // Nor do the others take the places of visitors.
        server.time.pass(300)
        for _ in 1...5 { _ = try await server.ask("POST", "/v1/login/init", wish) }
        _ = try await server.beginForVisitor(from: "198.51.100.1")
        #expect(try await waiting(server) == 6)
    }

    @Test("from one network leaves a place to another's", arguments: Backend.allCases)
    func networks(backend: Backend) async throws {
        let (server, _) = try await TestServer.withVisitors(backend)
        for number in 0..<5 { _ = try await server.beginForVisitor(from: "2001:db8::\(number)") }
        #expect(try await waiting(server) == 2)
        _ = try await server.beginForVisitor(from: "192.0.2.7")
        #expect(try await waiting(server) == 3)
    }

    @Test("is one of three that wait, of many at once", arguments: Backend.allCases)
    func race(backend: Backend) async throws {
        let (server, _) = try await TestServer.withVisitors(backend)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                group.addTask {
                    _ = try await server.beginForVisitor(from: "198.51.100.\(number)")
                }
            }
            try await group.waitForAll()
        }
        #expect(try await waiting(server) == 3)
    }
}

extension TestServer {
    /// A server with the template `sign-in`, and alice's device.
    static func withVisitors(_ backend: Backend) async throws -> (TestServer, TestDevice) {
        let server = try await make(backend)
        try await server.makeTemplate(
            "sign-in", "sign in from {address}\nthe page shows {code}", purpose: .login)
        let device = try TestDevice()
        try await server.register(device)
        return (server, device)
    }

    /// Begins a login for a visitor.
    func beginForVisitor(
        _ account: String = "alice", from visitor: String = "192.0.2.7"
    ) async throws -> Reply {
        try await ask(
            "POST", "/v1/login/init",
            [
                "account": account, "template": "sign-in", "data": ["code": "ABC-234"],
                "visitor": visitor,
            ])
    }

    /// Confirms a login that was begun.
    func confirm(_ begun: Reply) async throws -> Reply {
        try await ask(
            "POST", "/v1/login/confirm",
            ["operation": try begun.text("operation"), "session": try begun.text("session")])
    }
}
