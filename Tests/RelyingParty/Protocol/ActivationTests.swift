// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import ServerAPI
import Testing

@testable import RelyingParty

@Suite("An activation code")
struct ActivationTests {
    private func begin(_ code: String, at server: TestServer) async throws -> Reply {
        try await server.send(
            "POST", "/v1/registrations",
            ["code": code, "device": String(repeating: "0", count: 32)])
    }

    @Test(
        "of a blocked account is refused, and good when the account is unblocked",
        arguments: Backend.allCases)
    func blocked(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let code = try await server.ask("POST", "/v1/activations", ["account": "alice"])
            .text("code")
        try await server.administer("account", "block", "shop", "alice")
        for _ in 0..<2 {
            #expect(try await begin(code, at: server).code == "activation-refused")
        }
        try await server.administer("account", "unblock", "shop", "alice")
        #expect(try await begin(code, at: server).status == 201)
        #expect(try await begin(code, at: server).code == "activation-refused")
    }

    @Test("is not made for an account that is blocked", arguments: Backend.allCases)
    func notMade(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let wish = ["account": "alice"]
        #expect(try await server.ask("POST", "/v1/activations", wish).status == 201)
        try await server.administer("account", "block", "shop", "alice")
        let reply = try await server.ask("POST", "/v1/activations", wish)
        #expect(reply.status == 409 && reply.code == "conflict")
        let fault = await server.fault("activation", "add", "shop", "alice")
        #expect(fault?.status == 4 && fault?.text.contains("the account is blocked") == true)
        #expect(try await server.audited("activation", "conflict") == 2)
        // Another of the application gets one, and so does this one later.
        #expect(try await server.ask("POST", "/v1/activations", ["account": "bob"]).status == 201)
        try await server.administer("account", "unblock", "shop", "alice")
        #expect(try await server.ask("POST", "/v1/activations", wish).status == 201)
    }

    @Test(
        "is recorded with its owner if it is refused, and an unknown one without",
        arguments: Backend.allCases)
    func trail(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let code = try await server.ask("POST", "/v1/activations", ["account": "alice"])
            .text("code")
        try await server.administer("account", "block", "shop", "alice")
        _ = try await begin(code, at: server)
        try await server.administer("account", "unblock", "shop", "alice")
        server.time.pass(600)
        _ = try await begin(code, at: server)
        _ = try await begin("00000-00000-00000-00000", at: server)
        let rows = try await server.rows(
            """
            SELECT application, account FROM audit
            WHERE event = 'registration' AND outcome = 'activation-refused' ORDER BY id
            """)
        let shop = Row([.text("shop"), .text("alice")])
        #expect(rows == [shop, shop, Row([.text(""), .text("")])])
    }
}
