// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("An operation")
struct OperationTests {
    @Test("is shown as it was made, to application and device", arguments: Backend.allCases)
    func made(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        var wish = TestServer.payment
        wish["additional"] = [
            "address": "203.0.113.7", "agent": "Browser\n1", "device": "Alice's desk",
        ]
        let made = try await server.ask("POST", "/v1/operations", wish)
        #expect(made.status == 201)
        let id = try made.text("operation")
        let shown = try await server.ask("GET", "/v1/operations/\(id)")
        #expect(shown.bytes == made.bytes)
        #expect(shown["account"] as? String == "alice")
        #expect(shown["template"] as? String == "payment")
        #expect(shown["data"] as? String == "pay 10 EUR\nto Bob")
        #expect(shown["status"] as? String == "PENDING")
        #expect(shown["failureCount"] as? Int == 0)
        #expect(shown["maxFailureCount"] as? Int == 3)
        #expect(shown["created"] as? Int == Int(server.time.now))
        #expect(shown["expires"] as? Int == Int(server.time.now + 300))
        #expect(shown["decided"] == nil)
        #expect(shown["challenge"] == nil)
        let additional = shown["additional"] as? [String: String]
        #expect(additional?["agent"] == "Browser\u{FFFD}1")
        #expect(try await server.awaited(by: device) == [id])
        let detail = try await server.detail(id, for: device)
        #expect(detail.data == "pay 10 EUR\nto Bob")
        #expect(detail.audience == device.audience)
        #expect(detail.challenge.bytes.count == 32)
        let trail = try await server.rows(
            "SELECT detail FROM audit WHERE event = 'operation-created'")
        let text = try #require(trail.first).text(0)
        #expect(text.contains(id) && text.contains("203.0.113.7"))
    }

    @Test("is not created from invalid values", arguments: Backend.allCases)
    func malformed(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let wishes: [(String, Any?, Int, String)] = [
            ("data", nil, 400, "malformed"), ("data", ["amount": "10"], 400, "malformed"),
            ("data", ["amount": "10", "payee": "Bob", "x": ""], 400, "malformed"),
            ("data", ["amount": 10, "payee": "Bob"] as [String: Any], 400, "malformed"),
            ("data", "10", 400, "malformed"), ("account", nil, 400, "malformed"),
            (
                "data", ["amount": String(repeating: "1", count: 1_025), "payee": ""], 400,
                "malformed"
            ),
            ("account", "nobody", 404, "not-found"), ("template", "other", 404, "not-found"),
            ("template", "", 400, "malformed"), ("expiresIn", 301, 400, "malformed"),
            ("expiresIn", 9, 400, "malformed"), ("device", "d1", 400, "malformed"),
            ("device", hexadecimal([UInt8](repeating: 0xd2, count: 16)), 409, "conflict"),
        ]
        for (field, value, status, code) in wishes {
            var wish = TestServer.payment
            wish[field] = value
            let reply = try await server.ask("POST", "/v1/operations", wish)
            #expect(reply.status == status, "\(field) \(value ?? "")")
            #expect(reply.code == code, "\(field) \(value ?? "")")
        }
        var large = TestServer.payment
        large["data"] = ["amount": String(repeating: "1", count: 16_384), "payee": ""]
        #expect(try await server.ask("POST", "/v1/operations", large).code == "too-large")
        #expect(
            try await server.send("POST", "/v1/operations", TestServer.payment).code
                == "api-key-refused")
        #expect(try await server.awaited(by: device).isEmpty)
    }

    @Test("is nothing to another application", arguments: Backend.allCases)
    func foreign(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let other = try await server.makeApplication("bank")
        let id = try await server.operation()
        for (method, path) in [("GET", ""), ("POST", "/cancel")] {
            let reply = try await server.send(
                method, "/v1/operations/\(id)\(path)", method == "POST" ? [:] : nil, key: other)
            #expect(reply.status == 404)
        }
        let made = try await server.send(
            "POST", "/v1/operations", TestServer.payment, key: other)
        #expect(made.status == 404)
        #expect(try await server.status(id) == "PENDING")
        #expect(try await server.ask("GET", "/v1/operations/0").status == 404)
    }

    @Test("is taken back until it is decided", arguments: Backend.allCases)
    func canceled(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let id = try await server.operation()
        let cancel = "/v1/operations/\(id)/cancel"
        let reply = try await server.ask("POST", cancel, [:])
        #expect(reply["status"] as? String == "CANCELED")
        #expect(reply["decided"] as? Int == Int(server.time.now))
        #expect(try await server.ask("POST", cancel, [:]).code == "conflict")
        #expect(try await server.awaited(by: device).isEmpty)
        #expect(try await server.decide(id, by: device).code == "conflict")
        let approved = try await server.operation()
        #expect(try await server.decide(approved, by: device).status == 200)
        let late = try await server.ask("POST", "/v1/operations/\(approved)/cancel", [:])
        #expect(late.code == "conflict")
        #expect(try await server.status(approved) == "APPROVED")
    }

    @Test("expires by time alone, and is marked, then forgotten", arguments: Backend.allCases)
    func expired(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let id = try await server.operation()
        let shown = try await server.detail(id, for: device)
        server.time.pass(300)
        #expect(try await server.status(id) == "EXPIRED")
        #expect(try await server.awaited(by: device).isEmpty)
        #expect(try await server.detail(id, for: device).status == .expired)
        let late = device.decision(of: shown, at: server.time.now)
        let reply = try await server.decide(id, device.signed(late.encoded(), .operation))
        #expect(reply.code == "conflict")
        #expect(try await server.ask("POST", "/v1/operations/\(id)/cancel", [:]).status == 409)
        let kept = "SELECT status FROM operation" as StaticString
        #expect(try await server.rows(kept) == [Row([.text("PENDING")])])
        await server.service.maintenance.forgetOld()
        #expect(try await server.rows(kept) == [Row([.text("EXPIRED")])])
        server.time.pass(30 * 86_400 + 1)
        await server.service.maintenance.forgetOld()
        #expect(try await server.rows(kept).isEmpty)
    }

    @Test("does not come in hundreds", arguments: Backend.allCases)
    func many(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        var ids: [String] = []
        for _ in 0..<20 { ids.append(try await server.operation()) }
        let reply = try await server.ask("POST", "/v1/operations", TestServer.payment)
        #expect(reply.code == "conflict")
        _ = try await server.decide(ids[0], .reject, by: device)
        _ = try await server.operation()
        // Logins that another begins keep no operation away, nor the other way round.
        try await server.makeTemplate("login", "sign in", purpose: .login)
        let login = ["account": "alice", "template": "login"]
        for _ in 0..<5 {
            #expect(try await server.ask("POST", "/v1/login/init", login).status == 201)
        }
        #expect(try await server.ask("POST", "/v1/login/init", login).code == "conflict")
    }

    @Test("follows those made before it in the same second", arguments: Backend.allCases)
    func order(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let (device, other) = (try TestDevice(), try TestDevice(id: 0xd2))
        other.account = "bob"
        try await server.register(device)
        try await server.register(other)
        try await server.makeTemplate()
        var wish = TestServer.payment
        wish["account"] = "bob"
        var (ids, others): ([String], [String]) = ([], [])
        for _ in 0..<10 {
            ids.append(try await server.operation())
            others.append(try await server.operation(wish))
        }
        #expect(try await server.awaited(by: device) == ids)
        #expect(try await server.awaited(by: other) == others)
        // Also where earlier ones are over, and by a clock that was set back.
        _ = try await server.decide(ids.removeFirst(), .reject, by: device)
        _ = try await server.decide(ids.removeLast(), .reject, by: device)
        server.time.pass(-5)
        ids.append(try await server.operation())
        #expect(try await server.awaited(by: device) == ids)
        let latest = try await server.database.read { store throws(DatabaseFault) in
            guard let shop = try store.applications.application(name: "shop"),
                let account = try store.accounts.account("bob", of: shop.id)
            else { throw .broken("no account") }
            return try store.operations.latestOperations(ofAccount: account.id, most: 3)
        }
        #expect(latest.map { $0.id.text } == others.suffix(3).reversed())
    }

    @Test("does not come in hundreds at once either", arguments: Backend.allCases)
    func manyRaced(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate("plain", "agree")
        try await server.makeTemplate("login", "sign in", purpose: .login)
        for (path, template, most) in [("operations", "plain", 20), ("login/init", "login", 5)] {
            let made = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await server.ask(
                            "POST", "/v1/\(path)", ["account": "alice", "template": template]
                        ).status
                    }
                }
                return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(made == [201: most, 409: 100 - most])
        }
        #expect(try await server.rows("SELECT id FROM operation").count == 25)
    }

    @Test("of a device is seen by that device alone", arguments: Backend.allCases)
    func bound(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let (first, second, stranger) = (
            try TestDevice(id: 0xd1), try TestDevice(id: 0xd2), try TestDevice(id: 0xd3)
        )
        stranger.account = "bob"
        for device in [first, second, stranger] { try await server.register(device) }
        try await server.makeTemplate(isDeviceBound: true)
        let unbound = try await server.ask("POST", "/v1/operations", TestServer.payment)
        #expect(unbound.code == "malformed")
        var wish = TestServer.payment
        wish["device"] = hexadecimal(stranger.id)
        #expect(try await server.ask("POST", "/v1/operations", wish).code == "conflict")
        wish["device"] = hexadecimal(first.id)
        let id = try await server.operation(wish)
        #expect(try await server.awaited(by: first) == [id])
        for other in [second, stranger] {
            #expect(try await server.awaited(by: other).isEmpty)
            await #expect(throws: Problem.notFound) {
                try await server.detail(id, for: other)
            }
        }
        let path = "/v1/registrations/\(first.registration)/block"
        _ = try await server.ask("POST", path, [:])
        #expect(try await server.ask("POST", "/v1/operations", wish).code == "conflict")
    }

    @Test("is not shown to a device that is not recognised")
    func unrecognised() async throws {
        let server = try await TestServer.make(.sqlite)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let id = try await server.operation()
        for path in ["/v1/device/operations", "/v1/device/operations/\(id)"] {
            #expect(try await server.send("GET", path).status == 401)
            #expect(try await server.ask("GET", path).status == 401)
        }
    }

    @Test("stays as it was made when its template is removed", arguments: Backend.allCases)
    func template(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.makeTemplate())
        #expect(try await !server.makeTemplate())
        let id = try await server.operation()
        let left = try await server.database.write { store throws(DatabaseFault) in
            guard let shop = try store.applications.application(name: "shop") else { return -1 }
            let kept = try store.templates.listTemplates(of: shop.id).count
            guard try store.templates.removeTemplate("payment", of: shop.id),
                try !store.templates.removeTemplate("payment", of: shop.id)
            else { return -1 }
            return kept - (try store.templates.listTemplates(of: shop.id).count)
        }
        #expect(left == 1)
        #expect(try await server.decide(id, by: device).status == 200)
        #expect(
            try await server.ask("POST", "/v1/operations", TestServer.payment).status == 404)
    }
}
