// SPDX-License-Identifier: Apache-2.0
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The answer to a verification")
struct VerificationAnswerTests {
    /// A server whose application has roles, and a device that is registered there.
    private func site(_ backend: Backend) async throws -> (TestServer, TestDevice) {
        let server = try await TestServer.make(backend)
        try await server.administer("application", "set", "shop", "--roles", "retail,eu")
        try await server.administer("activation", "add", "shop", "alice")
        try await server.administer("account", "set", "shop", "alice", "--roles", "buyer")
        let device = try TestDevice()
        try await server.register(device)
        return (server, device)
    }

    /// Has a failure counted: the device's counter goes back.
    private func fail(_ server: TestServer, _ device: TestDevice) async throws {
        let counter = device.counter
        server.time.pass(1)
        device.counter = 0
        #expect(try await server.logIn(device).status == 401)
        device.counter = counter
        server.time.pass(1)
    }

    private func check(_ reply: Reply, attempts: Int?, _ what: String) {
        #expect(reply.status == 200, "\(what)")
        #expect(reply["application"] as? String == "shop", "\(what)")
        #expect(reply["applicationRoles"] as? [String] == ["retail", "eu"], "\(what)")
        #expect(reply["remainingAttempts"] as? Int == attempts, "\(what)")
    }

    @Test(
        "is the application with its own roles, and how many failures are left",
        arguments: Backend.allCases)
    func answers(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        let login = try await server.logIn(device)
        check(login, attempts: 5, "login")
        #expect(login["roles"] as? [String] == ["buyer"])
        let tokens = try #require(login["tokens"] as? [String: Any])
        let token = try #require(tokens["accessToken"] as? String)
        let mac = try await server.macToken(device)
        try await fail(server, device)
        let introspection = try await server.ask("POST", "/v1/token/introspect", ["token": token])
        check(introspection, attempts: 4, "introspection")
        #expect(introspection["roles"] as? [String] == ["buyer"])
        // A MAC is no touch: it resets nothing.
        for _ in 0..<2 {
            let answer = try await server.verify(mac.header(at: server.time.now))
            check(answer, attempts: 4, "MAC")
            #expect(answer["roles"] as? [String] == ["buyer"])
        }
        let header = try device.header(device.statement(at: server.time.now))
        check(try await server.verify(header), attempts: 5, "request")
        check(try await server.verify(mac.header(at: server.time.now)), attempts: 5, "MAC again")
        try await server.makeTemplate()
        try await fail(server, device)
        let decision = try await server.decide(try await server.operation(), by: device)
        check(decision, attempts: 5, "decision")
    }

    @Test(
        "of a code that is not valid is the application, and nothing of the account",
        arguments: Backend.allCases)
    func refused(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        let header = try device.header(device.statement(at: server.time.now))
        check(try await server.verify(header), attempts: 5, "request")
        let stranger = try TestDevice(id: 0xee)
        for (header, code, attempts) in [
            (header, "replayed", 5), ("Signet x", "malformed", nil),
            (try stranger.header(stranger.statement(at: server.time.now)), "refused", nil),
        ] as [(String, String, Int?)] {
            let answer = try await server.verify(header)
            check(answer, attempts: attempts, code)
            #expect(answer["valid"] as? Bool == false && answer.code == code)
            for name in ["account", "registration", "device", "roles", "flags"] {
                #expect(answer[name] == nil, "\(code): \(name)")
            }
        }
        let inactive = try await server.ask("POST", "/v1/token/introspect", ["token": "x"])
        #expect(inactive["active"] as? Bool == false && inactive.members.count == 1)
    }

    @Test("is one application's roles, which change at once", arguments: Backend.allCases)
    func roles(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        try await server.administer("application", "add", "bank", "--roles", "finance")
        let list = try await server.administer("application", "list", "--json").joined()
        #expect(
            list.contains(#""roles":["finance"]"#) && list.contains(#""roles":["retail","eu"]"#))
        try await server.administer("application", "set", "shop", "--max-failures", "7")
        let kept = try await server.logIn(device)
        #expect(kept["applicationRoles"] as? [String] == ["retail", "eu"])
        #expect(kept["remainingAttempts"] as? Int == 7)
        try await server.administer("application", "set", "shop", "--roles", "")
        #expect(try await server.logIn(device)["applicationRoles"] as? [String] == [])
        for words in ["a,a", "a b", "ä"] {
            #expect(await server.fault("application", "set", "shop", "--roles", words)?.status == 2)
        }
    }
}
