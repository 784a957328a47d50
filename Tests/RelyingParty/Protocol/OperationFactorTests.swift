// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The factors of an operation")
struct OperationFactorTests {
    /// A device with both keys, at an application with a template.
    private func device(
        _ factors: TemplateFactors, passwords: Bool = false,
        purpose: TemplatePurpose = .operation, on backend: Backend
    ) async throws -> (TestServer, TestDevice) {
        let server = try await TestServer.make(
            backend, policy: ApplicationPolicy(passwords: passwords))
        try await server.makeTemplate(purpose: purpose, factors: factors)
        let device = try TestDevice()
        if passwords || factors.named.map({ $0.accepts(.password) }) == true {
            device.passwordKey = try .generate()
        }
        try await server.register(device)
        if device.passwordKey == nil { device.passwordKey = try .generate() }
        return (server, device)
    }

    @Test(
        "are what the template names, or the policy accepts",
        arguments: Backend.allCases,
        [
            (TemplateFactors.policy, false, ["fingerprint"]),
            (.policy, true, ["fingerprint", "password"]), (.fingerprint, true, ["fingerprint"]),
            (.password, false, ["password"]), (.either, false, ["fingerprint", "password"]),
        ])
    func accepted(backend: Backend, one: (TemplateFactors, Bool, [String])) async throws {
        let (factors, passwords, expected) = one
        let (server, device) = try await device(factors, passwords: passwords, on: backend)
        for factor in KeyFactor.allCases {
            let id = try await server.operation()
            device.confirm(by: factor)
            let reply = try await server.decide(id, by: device)
            guard expected.contains(factor.rawValue) else {
                #expect(["policy", "refused"].contains(reply.code), "\(factor)")
                #expect(try await server.status(id) == "PENDING")
                continue
            }
            #expect(reply["status"] as? String == "APPROVED", "\(factor)")
            let state = try await server.ask("GET", "/v1/operations/\(id)")
            #expect(state["factor"] as? String == factor.rawValue)
        }
    }

    @Test(
        "may both be required: the second one approves, in any order", arguments: Backend.allCases)
    func both(backend: Backend) async throws {
        let (server, device) = try await device(.both, on: backend)
        for order in [KeyFactor.allCases, KeyFactor.allCases.reversed()] {
            let id = try await server.operation()
            #expect(try await server.detail(id, for: device).factors == .both)
            device.confirm(by: order[0])
            // The first one again changes nothing.
            for _ in 0..<2 {
                let half = try await server.decide(id, by: device)
                #expect(half["status"] as? String == "PENDING")
                #expect(half["missing"] as? String == order[1].rawValue)
                #expect(try await server.detail(id, for: device).missing == order[1])
                let state = try await server.ask("GET", "/v1/operations/\(id)")
                #expect(state["factor"] == nil && state["status"] as? String == "PENDING")
            }
            device.confirm(by: order[1])
            #expect(try await server.decide(id, by: device)["status"] as? String == "APPROVED")
            let state = try await server.ask("GET", "/v1/operations/\(id)")
            #expect(state["factor"] as? String == "both" && state["factors"] as? String == "both")
        }
    }

    @Test(
        "both are those of one device, of one operation, and in time", arguments: Backend.allCases)
    func halves(backend: Backend) async throws {
        let (server, device) = try await device(.both, on: backend)
        let other = try TestDevice(id: 0xd2)
        other.passwordKey = try .generate()
        try await server.register(other)
        let (one, two) = (try await server.operation(), try await server.operation())
        #expect(try await server.decide(one, by: device)["status"] as? String == "PENDING")
        // Another device's password is another half, and takes the place of the first.
        other.confirm(by: .password)
        #expect(try await server.decide(one, by: other)["status"] as? String == "PENDING")
        device.confirm(by: .password)
        #expect(try await server.decide(two, by: device)["status"] as? String == "PENDING")
        #expect(try await server.decide(one, by: device)["status"] as? String == "PENDING")
        // A statement that was used for the first half is no second one.
        let shown = try await server.detail(one, for: device)
        let statement = device.decision(of: shown, at: server.time.now)
        var body = try device.signed(statement.encoded(), .operation, by: device.signingKey)
        #expect(try await server.decide(one, body).status == 200)
        #expect(try await server.decide(one, body).code == "refused")
        // Nor one whose factor was altered.
        var altered = statement
        altered.claims.factor = [UInt8]("fingerprint".utf8)
        body["statement"] = base64(altered.encoded())
        #expect(try await server.decide(one, body).code == "refused")
        server.time.pass(300)
        device.confirm(by: .fingerprint)
        #expect(try await server.decide(one, by: device).code == "conflict")
        #expect(try await server.status(one) == "EXPIRED")
    }

    @Test("both are not needed to reject", arguments: Backend.allCases)
    func rejected(backend: Backend) async throws {
        let (server, device) = try await device(.both, on: backend)
        for factor in KeyFactor.allCases {
            let id = try await server.operation()
            device.confirm(by: factor)
            #expect(
                try await server.decide(id, .reject, by: device)["status"] as? String == "REJECTED")
            let state = try await server.ask("GET", "/v1/operations/\(id)")
            #expect(state["factor"] as? String == factor.rawValue)
        }
    }

    @Test("a device without a key for the password is refused", arguments: Backend.allCases)
    func withoutKey(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate(factors: .password)
        let id = try await server.operation()
        #expect(try await server.decide(id, by: device).code == "policy")
        device.confirm(by: .password)
        #expect(try await server.decide(id, by: device).code == "refused")
        #expect(try await server.status(id) == "PENDING")
    }

    @Test(
        "are in the tokens of a login that is approved with them", arguments: Backend.allCases,
        [
            (TemplateFactors.both, "both", ["fpt", "pwd", "mfa", "pop"]),
            (.password, "password", ["pwd", "pop"]),
        ])
    func tokens(backend: Backend, one: (TemplateFactors, String, [String])) async throws {
        let (factors, word, methods) = one
        let (server, device) = try await device(factors, purpose: .login, on: backend)
        let begun = try await server.ask("POST", "/v1/login/init", TestServer.payment)
        let id = try begun.text("operation")
        let body = ["operation": id, "session": try begun.text("session")]
        for factor in KeyFactor.allCases where factors.named?.accepts(factor) == true {
            #expect(try await server.ask("POST", "/v1/login/confirm", body).code == "conflict")
            device.confirm(by: factor)
            #expect(try await server.decide(id, by: device).status == 200)
        }
        let reply = try await server.ask("POST", "/v1/login/confirm", body)
        #expect(reply["factor"] as? String == word)
        #expect(try server.methods(of: reply) == methods)
        // The policy accepts no password, but the template does.
        let tokens = try #require(reply["tokens"] as? [String: Any])
        let refreshed = try await server.send(
            "POST", "/v1/token/refresh", ["refreshToken": tokens["refreshToken"] ?? ""])
        #expect(refreshed.status == 200)
    }
}
