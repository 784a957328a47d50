// SPDX-License-Identifier: Apache-2.0
import SQLSupport
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("A policy that became stricter")
struct StricterPolicyTests {
    /// What a device got before, and what is asked of it.
    private struct Holder {
        let server: TestServer
        let device: TestDevice
        let access: String
        let refresh: String
        let token: TestMACToken

        init(_ backend: Backend, _ integrity: Integrity) async throws {
            server = try await TestServer.make(backend)
            device = try TestDevice()
            device.integrity = integrity
            try await server.register(device)
            let tokens = try await server.logIn(device)["tokens"] as? [String: Any]
            access = try #require(tokens?["accessToken"] as? String)
            refresh = try #require(tokens?["refreshToken"] as? String)
            token = try await server.macToken(device)
        }

        func isActive() async throws -> Bool? {
            try await server.ask("POST", "/v1/token/introspect", ["token": access])["active"]
                as? Bool
        }

        func refreshed() async throws -> Reply {
            try await server.send("POST", "/v1/token/refresh", ["refreshToken": refresh])
        }

        /// The code that a request with the MAC token is refused with.
        func macRefusal() async throws -> String? {
            try await server.refusal(of: token.header(at: server.time.now))
        }
    }

    private static let strict = Integrity(key: .tpm, secureBoot: .on)

    @Test(
        "refuses what was given to a device that would no longer be admitted",
        arguments: Backend.allCases,
        [
            (["--keys", "tpm"], Integrity(key: .file, secureBoot: .on)),
            (["--secure-boot", "on"], Integrity(key: .tpm, secureBoot: .off)),
            (["--secure-boot", "on"], Integrity(key: .tpm, secureBoot: .unknown)),
        ])
    func device(backend: Backend, policy: ([String], Integrity)) async throws {
        let (words, integrity) = policy
        let holder = try await Holder(backend, integrity)
        let server = holder.server
        #expect(try await holder.isActive() == true)
        #expect(try await holder.macRefusal() == nil)
        try await server.administer(["application", "set", "shop"] + words)
        #expect(try await server.logIn(holder.device).code == "policy")
        #expect(try await holder.isActive() == false)
        #expect(try await holder.macRefusal() == "policy")
        let list = try await server.send(
            "GET", "/v1/device/operations",
            headers: [
                (
                    "authorization",
                    try holder.token.header(
                        of: TestRequest(
                            method: "GET", resource: "/v1/device/operations", body: []),
                        at: server.time.now)
                )
            ])
        #expect(list.code == "policy")
        #expect(try await holder.refreshed().code == "token-refused")
    }

    @Test("leaves a device alone that would still be admitted", arguments: Backend.allCases)
    func goodDevice(backend: Backend) async throws {
        let holder = try await Holder(backend, Self.strict)
        try await holder.server.administer(
            "application", "set", "shop", "--keys", "tpm", "--secure-boot", "on")
        #expect(try await holder.isActive() == true)
        #expect(try await holder.macRefusal() == nil)
        #expect(try await holder.refreshed().status == 200)
    }

    @Test(
        "judges a device by how it was started when it last logged in", arguments: Backend.allCases)
    func restarted(backend: Backend) async throws {
        let holder = try await Holder(backend, Integrity(key: .tpm, secureBoot: .off))
        let server = holder.server
        holder.device.integrity = Self.strict
        #expect(try await server.logIn(holder.device).status == 200)
        try await server.administer("application", "set", "shop", "--secure-boot", "on")
        #expect(try await holder.isActive() == true)
        #expect(try await holder.macRefusal() == nil)
        // A refused login says nothing.
        holder.device.integrity = Integrity(key: .tpm, secureBoot: .off)
        #expect(try await server.logIn(holder.device).code == "policy")
        #expect(try await holder.refreshed().status == 200)
        try await server.administer("application", "set", "shop", "--secure-boot", "any")
        #expect(try await server.logIn(holder.device).status == 200)
        try await server.administer("application", "set", "shop", "--secure-boot", "on")
        #expect(try await holder.macRefusal() == "policy")
    }

    @Test("without fingers ends what a finger began, and no MAC token", arguments: Backend.allCases)
    func fingers(backend: Backend) async throws {
        let holder = try await Holder(backend, Self.strict)
        try await holder.server.administer("application", "set", "shop", "--biometrics", "no")
        #expect(try await holder.isActive() == false)
        #expect(try await holder.macRefusal() == nil)
        #expect(try await holder.refreshed().code == "token-refused")
    }

    @Test("ends sessions sooner, and none later", arguments: Backend.allCases)
    func sooner(backend: Backend) async throws {
        let holder = try await Holder(backend, Self.strict)
        let server = holder.server
        try await server.administer("application", "set", "shop", "--refresh-seconds", "200")
        server.time.pass(199)
        #expect(try await holder.isActive() == true)
        let reply = try await holder.refreshed()
        #expect(reply.status == 200 && reply["expiresIn"] as? Int == 1)
        let second = try reply.text("refreshToken")
        server.time.pass(1)
        #expect(try await holder.isActive() == false)
        let late = try await server.send("POST", "/v1/token/refresh", ["refreshToken": second])
        #expect(late.code == "token-refused")
        try await server.administer("application", "set", "shop", "--refresh-seconds", "60")
        let other = try #require(
            try await server.logIn(holder.device)["tokens"] as? [String: Any])
        try await server.administer("application", "set", "shop", "--refresh-seconds", "600")
        server.time.pass(60)
        let ended = try await server.send(
            "POST", "/v1/token/refresh",
            ["refreshToken": try #require(other["refreshToken"] as? String)])
        #expect(ended.code == "token-refused")
    }

    @Test("holds for an approved login that is yet to be confirmed", arguments: Backend.allCases)
    func confirmed(backend: Backend) async throws {
        let holder = try await Holder(backend, Integrity(key: .file, secureBoot: .on))
        let server = holder.server
        try await server.makeTemplate("login", "sign in", purpose: .login)
        let begun = try await server.ask(
            "POST", "/v1/login/init", ["account": "alice", "template": "login"])
        let id = try begun.text("operation")
        #expect(try await server.decide(id, by: holder.device).status == 200)
        try await server.administer("application", "set", "shop", "--keys", "tpm")
        let reply = try await server.ask(
            "POST", "/v1/login/confirm", ["operation": id, "session": try begun.text("session")])
        #expect(reply.code == "conflict")
    }

    @Test("ends what a browser was signed in by", arguments: Backend.allCases)
    func browser(backend: Backend) async throws {
        let (server, device) = try await TestServer.withVisitors(backend)
        let begun = try await server.beginForVisitor()
        _ = try await server.decide(try begun.text("operation"), by: device)
        let tokens = try await server.confirm(begun)["tokens"] as? [String: Any]
        let token = try #require(tokens?["accessToken"] as? String)
        func isActive() async throws -> Bool {
            try await server.ask("POST", "/v1/token/introspect", ["token": token])["active"]
                as? Bool == true
        }
        #expect(try await isActive())
        try await server.administer("application", "set", "shop", "--biometrics", "no")
        #expect(try await !isActive())
    }
}
