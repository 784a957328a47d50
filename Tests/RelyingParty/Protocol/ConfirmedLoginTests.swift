// SPDX-License-Identifier: Apache-2.0
import Crypto
import JSONFormat
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("A login that is approved as an operation")
struct ConfirmedLoginTests {
    /// A login of the application `shop`, begun.
    private struct Begun {
        let server: TestServer
        let device: TestDevice
        let operation: String
        let session: String

        /// The body that confirms it.
        var body: [String: String] { ["operation": operation, "session": session] }

        func confirm() async throws -> Reply {
            try await server.ask("POST", "/v1/login/confirm", body)
        }
    }

    private static var wish: [String: Any] {
        [
            "account": "alice", "template": "login", "data": ["place": "Berlin"],
        ]
    }

    private func begin(_ backend: Backend) async throws -> Begun {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate("login", "sign in from {place}", purpose: .login)
        try await server.makeTemplate()
        let begun = try await server.ask("POST", "/v1/login/init", Self.wish)
        #expect(begun.status == 201)
        #expect(begun["data"] as? String == "sign in from Berlin")
        return Begun(
            server: server, device: device, operation: try begun.text("operation"),
            session: try begun.text("session"))
    }

    @Test("gives tokens, once, up to a minute after", arguments: Backend.allCases)
    func confirmed(backend: Backend) async throws {
        let login = try await begin(backend)
        let server = login.server
        #expect(try await server.decide(login.operation, by: login.device).status == 200)
        server.time.pass(59)
        let reply = try await login.confirm()
        #expect(reply.status == 200)
        #expect(reply["valid"] as? Bool == true)
        #expect(reply["account"] as? String == "alice")
        #expect(reply["registration"] as? String == login.device.registration)
        let tokens = try #require(reply["tokens"] as? [String: Any])
        let token = try #require(tokens["accessToken"] as? String)
        let payload = try JSONWebToken.verify(
            [UInt8](token.utf8), keys: server.service.keys.verifying)
        let claims = try JSON.decode(AccessClaims.self, from: payload)
        #expect(claims.sub == "alice")
        #expect(claims.aud == login.device.audience)
        #expect(claims.amr == ["fpt", "pop"])
        #expect(try await login.confirm().code == "conflict")
        let state = try await server.ask("GET", "/v1/operations/\(login.operation)")
        #expect(state["confirmed"] as? Int == Int(server.time.now))
        #expect(try await server.rows("SELECT id FROM token_session").count == 1)
        #expect(!String(decoding: state.bytes, as: UTF8.self).contains(login.session))
    }

    @Test("is confirmed no later than that", arguments: Backend.allCases)
    func late(backend: Backend) async throws {
        let login = try await begin(backend)
        #expect(try await login.server.decide(login.operation, by: login.device).status == 200)
        login.server.time.pass(60)
        #expect(try await login.confirm().code == "conflict")
        try await hasNoTokens(login)
    }

    @Test("is confirmed only where it was approved", arguments: Backend.allCases)
    func undecided(backend: Backend) async throws {
        let login = try await begin(backend)
        let server = login.server
        #expect(try await login.confirm().code == "conflict")
        _ = try await server.decide(login.operation, .reject, by: login.device)
        #expect(try await login.confirm().code == "conflict")
        for end in ["cancel", "expiry"] {
            let begun = try await server.ask("POST", "/v1/login/init", Self.wish)
            let id = try begun.text("operation")
            if end == "cancel" {
                _ = try await server.ask("POST", "/v1/operations/\(id)/cancel", [:])
            } else {
                server.time.pass(300)
            }
            let reply = try await server.ask(
                "POST", "/v1/login/confirm",
                ["operation": id, "session": try begun.text("session")])
            #expect(reply.code == "conflict", "\(end)")
        }
        try await hasNoTokens(login)
    }

    @Test("is nothing to another session or application", arguments: Backend.allCases)
    func foreign(backend: Backend) async throws {
        let login = try await begin(backend)
        let server = login.server
        let other = try await server.makeApplication("bank")
        let second = try await server.ask("POST", "/v1/login/init", Self.wish)
        let plain = try await server.operation()
        #expect(try await server.decide(login.operation, by: login.device).status == 200)
        #expect(try await server.decide(plain, by: login.device).status == 200)
        let sessions = [
            try second.text("session"), "", "sgs_", login.session + "A",
            String(login.session.dropLast()), login.session.uppercased(),
            String(repeating: "s", count: 10_000),
        ]
        for session in sessions {
            let reply = try await server.ask(
                "POST", "/v1/login/confirm",
                ["operation": login.operation, "session": session])
            #expect(reply.code == "refused")
        }
        let foreign = try await server.send(
            "POST", "/v1/login/confirm", login.body, key: other)
        #expect(foreign.code == "not-found")
        let unknown = try await server.ask(
            "POST", "/v1/login/confirm",
            ["operation": hexadecimal(try freshBytes(16)), "session": login.session])
        #expect(unknown.code == "not-found")
        // An approval of something else is no login.
        let payment = try await server.ask(
            "POST", "/v1/login/confirm", ["operation": plain, "session": login.session])
        #expect(payment.code == "refused")
        #expect(try await server.send("POST", "/v1/login/confirm", login.body).status == 401)
        #expect(
            try await server.ask("POST", "/v1/login/confirm", ["session": login.session]).code
                == "malformed")
        try await hasNoTokens(login)
        #expect(try await login.confirm().status == 200)
    }

    @Test("is confirmed for no device or account that was blocked", arguments: Backend.allCases)
    func blocked(backend: Backend) async throws {
        let login = try await begin(backend)
        let server = login.server
        #expect(try await server.decide(login.operation, by: login.device).status == 200)
        let path = "/v1/registrations/\(login.device.registration)"
        _ = try await server.ask("POST", path + "/block", [:])
        #expect(try await login.confirm().code == "conflict")
        _ = try await server.ask("POST", path + "/unblock", [:])
        try await setBlocked("UPDATE account SET blocked = 1", server)
        #expect(try await login.confirm().code == "conflict")
        #expect(try await server.ask("POST", "/v1/login/init", Self.wish).code == "conflict")
        try await setBlocked("UPDATE account SET blocked = 0", server)
        _ = try await server.ask("POST", path + "/remove", [:])
        #expect(try await login.confirm().code == "conflict")
        try await hasNoTokens(login)
    }

    @Test("is confirmed once by many at once", arguments: Backend.allCases)
    func raced(backend: Backend) async throws {
        let login = try await begin(backend)
        let server = login.server
        #expect(try await server.decide(login.operation, by: login.device).status == 200)
        let bodies = [[String: String]](repeating: login.body, count: 1_000)
        #expect(try await server.race("/v1/login/confirm", bodies, key: server.apiKey) == 1)
        #expect(try await server.rows("SELECT id FROM token_session").count == 1)
    }

    @Test(
        "leaves nothing that holds when its device is blocked meanwhile",
        arguments: Backend.allCases)
    func blockedMeanwhile(backend: Backend) async throws {
        var login = try await begin(backend)
        let server = login.server
        let path = "/v1/registrations/\(login.device.registration)"
        for _ in 0..<20 {
            #expect(try await server.decide(login.operation, by: login.device).status == 200)
            let body = login.body
            async let confirmed = server.ask("POST", "/v1/login/confirm", body)
            async let blocked = server.ask("POST", path + "/block", [:])
            let statuses = try await (confirmed.status, blocked.status)
            #expect([200, 409].contains(statuses.0) && statuses.1 == 200)
            #expect(
                try await server.rows("SELECT id FROM token_session WHERE revoked IS NULL").isEmpty)
            _ = try await server.ask("POST", path + "/unblock", [:])
            let begun = try await server.ask("POST", "/v1/login/init", Self.wish)
            login = Begun(
                server: server, device: login.device, operation: try begun.text("operation"),
                session: try begun.text("session"))
        }
    }

    @Test("is begun with a template for logins only", arguments: Backend.allCases)
    func purpose(backend: Backend) async throws {
        let login = try await begin(backend)
        let server = login.server
        let payment = try await server.ask("POST", "/v1/login/init", TestServer.payment)
        #expect(payment.code == "conflict")
        #expect(try await server.ask("POST", "/v1/operations", Self.wish).code == "conflict")
        #expect(try await server.send("POST", "/v1/login/init", Self.wish).status == 401)
    }

    private func hasNoTokens(_ login: Begun) async throws {
        #expect(try await login.server.rows("SELECT id FROM token_session").isEmpty)
    }

    private func setBlocked(_ sql: StaticString, _ server: TestServer) async throws {
        try await server.database.write { store throws(DatabaseFault) in _ = try store.run(sql) }
    }
}
