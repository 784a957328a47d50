// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import HTTPServer
import SQLSupport
import ServerAPI
import SignedFormats
import Synchronization
import TestSupport

@testable import RelyingParty

/// A story in which each call of devices, back ends and health checks succeeds once;
/// `AdministrationScenario` has the others.
struct APIScenario {
    private let server: TestServer
    private let phone: TestDevice

    /// Runs it; returns all calls with their answers.
    static func run() async throws -> [Exchange] {
        let server = try await TestServer.attesting(
            .sqlite, policy: ApplicationPolicy(passwords: true))
        server.recorded.withLock { $0 = [] }
        let scenario = APIScenario(server: server, phone: try TestDevice())
        try await scenario.register()
        try await scenario.logIn()
        try await scenario.operate()
        try await scenario.authenticate()
        try await scenario.end()
        return server.recorded.withLock { $0 ?? [] }
    }

    private func register() async throws {
        // The attested one first, because the last call of a kind is the example.
        let attested = try AttestingDevice(id: 0xd4)
        attested.device.passwordKey = try .generate()
        try expect(200, try await server.register(attested: attested))
        let code = try await server.ask("POST", "/v1/activations", ["account": "alice"])
        let asked: [String: Any] = [
            "code": try code.text("code"), "device": hexadecimal(phone.id),
        ]
        try expect(200, try await server.send("POST", "/v1/activations/requirements", asked))
        try await server.change("UPDATE application SET commit_required = 1")
        phone.passwordKey = try .generate()
        try await server.register(phone)
        try await server.change("UPDATE application SET commit_required = 0")
        let place = "/v1/registrations/\(phone.registration)"
        let state = try await server.ask("GET", place)
        try expect(
            200,
            try await server.ask(
                "POST", "\(place)/commit", ["fingerprint": try state.text("fingerprint")]))
        try expect(200, try await server.ask("POST", "\(place)/block", [:]))
        try expect(200, try await server.ask("POST", "\(place)/unblock", [:]))
        phone.passwordKey = try .generate()
        try expect(200, try await server.replacePasswordKey(of: phone))
    }

    private func logIn() async throws {
        let login = try await server.logIn(phone)
        let refreshed = try await server.send(
            "POST", "/v1/token/refresh", ["refreshToken": try refreshToken(of: login)])
        try expect(
            200,
            try await server.ask(
                "POST", "/v1/token/introspect", ["token": try refreshed.text("accessToken")]))
        let ended = try await server.send(
            "POST", "/v1/token/revoke", ["token": try refreshed.text("refreshToken")])
        try expect(200, ended)
        _ = try await server.logIn(phone)
        let sessions = try await read("/v1/device/sessions")
        let list = sessions["sessions"] as? [[String: Any]]
        guard let session = list?.first?["session"] as? String else {
            throw Unexpected("no sessions")
        }
        try expect(200, try await write("/v1/device/sessions/\(session)/revoke"))
        _ = try await server.logIn(phone)
        try expect(200, try await write("/v1/device/sessions/revoke"))
        try expect(200, try await server.send("GET", "/.well-known/jwks.json"))
        try expect(200, try await server.send("GET", "/health/live"))
        try expect(200, try await server.send("GET", "/health/ready"))
        try await server.makeTemplate("sign-in", "sign in at the shop", purpose: .login)
        let wish: [String: Any] = ["account": "alice", "template": "sign-in"]
        let begun = try await server.ask("POST", "/v1/login/init", wish)
        let operation = try begun.text("operation")
        try expect(200, try await server.decide(operation, by: phone))
        try expect(
            200,
            try await server.ask(
                "POST", "/v1/login/confirm",
                ["operation": operation, "session": try begun.text("session")]))
    }

    private func operate() async throws {
        try await server.makeTemplate()
        let canceled = try await server.operation()
        try expect(200, try await server.ask("POST", "/v1/operations/\(canceled)/cancel", [:]))
        let operation = try await server.operation()
        try expect(200, try await read("/v1/device/operations"))
        try expect(200, try await read("/v1/device/operations/\(operation)"))
        try expect(200, try await server.decide(operation, by: phone))
        try expect(200, try await server.ask("GET", "/v1/operations/\(operation)"))
        try expect(200, try await server.ask("GET", "/v1/accounts/alice/operations"))
    }

    private func authenticate() async throws {
        let token = try await server.macToken(phone)
        try expect(200, try await server.verify(try token.header(at: server.time.now)))
        try expect(
            200, try await server.ask("GET", "/v1/registrations/\(phone.registration)/mac-tokens"))
        let revoked = try await server.macToken(phone, name: "backup")
        let path = "/v1/mac-tokens/\(hexadecimal(revoked.id))/revoke"
        try expect(200, try await server.ask("POST", path, [:]))
        let own = "/v1/device/mac-tokens/\(hexadecimal(token.id))/revoke"
        let request = TestRequest(resource: own, body: Array("{}".utf8))
        let header = try token.header(of: request, at: server.time.now)
        try expect(
            200, try await server.send("POST", own, [:], headers: [("authorization", header)]))
    }

    private func end() async throws {
        try expect(200, try await server.ask("GET", "/v1/accounts/alice/registrations"))
        try expect(200, try await server.ask("GET", "/v1/accounts/alice/audit"))
        let lost = try TestDevice(id: 0xd2)
        try await server.register(lost)
        let place = "/v1/registrations/\(lost.registration)"
        try expect(200, try await server.ask("POST", "\(place)/remove", [:]))
        let statement = phone.answer(
            try await server.challenge(phone, "remove"), "remove", at: server.time.now)
        let own = "/v1/registrations/\(phone.registration)/disable"
        try expect(
            200, try await server.send("POST", own, try phone.signed(statement.encoded(), .login)))
        // And some that are refused, for their headers.
        try expect(401, try await server.send("POST", "/v1/activations", ["account": "alice"]))
        try expect(401, try await server.logIn(phone))
        try expect(401, try await server.send("GET", "/v1/device/operations"))
    }

    /// Reads something as the device, with a signed request.
    private func read(_ path: String) async throws -> Reply {
        let request = TestRequest(method: "GET", resource: path, body: [])
        let header = try phone.header(try phone.statement(of: request, at: server.time.now))
        return try await server.send("GET", path, headers: [("authorization", header)])
    }

    /// Makes a call without content as the device, with a signed request.
    private func write(_ path: String) async throws -> Reply {
        let request = TestRequest(resource: path, body: Array("{}".utf8))
        let header = try phone.header(try phone.statement(of: request, at: server.time.now))
        return try await server.send("POST", path, [:], headers: [("authorization", header)])
    }

    private func refreshToken(of login: Reply) throws -> String {
        guard let tokens = login["tokens"] as? [String: Any],
            let token = tokens["refreshToken"] as? String
        else { throw Unexpected("no tokens") }
        return token
    }

    private func expect(_ status: Int, _ reply: Reply) throws {
        // Some calls make something, and are answered with 201 or nothing.
        let isExpected =
            reply.status == status || (status == 200 && [201, 204].contains(reply.status))
        guard isExpected else {
            throw Unexpected("\(reply.status): \(String(decoding: reply.bytes, as: UTF8.self))")
        }
    }
}
