// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import JSONFormat
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

extension TestServer {
    /// A server whose application accepts passwords, and a device with a key for one.
    static func acceptingPasswords(_ backend: Backend) async throws -> (TestServer, TestDevice) {
        let server = try await make(backend, policy: ApplicationPolicy(passwords: true))
        let device = try TestDevice()
        device.passwordKey = try .generate()
        try await server.register(device)
        return (server, device)
    }

    /// The `amr` of a login's access token.
    func methods(of reply: Reply) throws -> [String] {
        let tokens = try #require(reply["tokens"] as? [String: Any])
        let token = try #require(tokens["accessToken"] as? String)
        let payload = try JSONWebToken.verify([UInt8](token.utf8), keys: service.keys.verifying)
        return try JSON.decode(AccessClaims.self, from: payload).amr
    }
}

@Suite("The password in place of a finger")
struct PasswordFactorTests {
    @Test("logs in, and answers, tokens and the trail say so", arguments: Backend.allCases)
    func accepted(backend: Backend) async throws {
        let (server, device) = try await TestServer.acceptingPasswords(backend)
        device.confirm(by: .password)
        let reply = try await server.logIn(device)
        #expect(reply.status == 200)
        #expect(reply["factor"] as? String == "password")
        #expect(try server.methods(of: reply) == ["pwd", "pop"])
        let tokens = try #require(reply["tokens"] as? [String: Any])
        let refreshed = try await server.send(
            "POST", "/v1/token/refresh", ["refreshToken": tokens["refreshToken"] ?? ""])
        let access = try JSONWebToken.verify(
            [UInt8](try refreshed.text("accessToken").utf8), keys: server.service.keys.verifying)
        #expect(try JSON.decode(AccessClaims.self, from: access).amr == ["pwd", "pop"])
        device.confirm(by: .fingerprint)
        let touched = try await server.logIn(device)
        #expect(touched["factor"] as? String == "fingerprint")
        #expect(try server.methods(of: touched) == ["fpt", "pop"])
        let trail = try await server.ask("GET", "/v1/accounts/alice/audit")
        let entries = try #require(trail["entries"] as? [[String: Any]])
        let logins = entries.filter { $0["event"] as? String == "login" }
        #expect(logins.map { $0["factor"] as? String } == ["fingerprint", "password"])
        let state = try await server.ask("GET", "/v1/registrations/\(device.registration)")
        #expect(state["factors"] as? [String] == ["fingerprint", "password"])
    }

    @Test("needs a key of its own: that of the fingerprint is not taken for both")
    func sameKey() async throws {
        let server = try await TestServer.make(.sqlite, policy: ApplicationPolicy(passwords: true))
        let device = try TestDevice()
        device.passwordKey = device.key
        let refused = try await server.prove(device, try await server.begin(device))
        #expect(refused.status == 401 && refused.code == "refused")
        device.passwordKey = try .generate()
        try await server.register(device)
        // Nor later.
        device.passwordKey = device.key
        let replaced = try await server.replacePasswordKey(of: device)
        #expect(replaced.status == 401 && replaced.code == "refused")
    }

    /// A fingerprint, as statements encode it.
    private static let touchLine = [UInt8]("fingerprint".utf8)

    /// What is wrong with an answer that would be accepted.
    enum Flaw: CaseIterable {
        case byFingerprintKey, touchByPasswordKey, altered, alteredBack, byAnother, namespace
        case replayed, stale, setBack, removalWord
    }

    @Test("is refused where the key, the text or the time is another", arguments: Backend.allCases)
    func flaws(backend: Backend) async throws {
        let (server, device) = try await TestServer.acceptingPasswords(backend)
        let password = try #require(device.passwordKey)
        for flaw in Flaw.allCases {
            let challenge = try await server.challenge(device)
            device.confirm(by: .password)
            var statement = device.answer(challenge, "login", at: server.time.now)
            var namespace = SignatureNamespace.login
            var key = password
            var sent: [UInt8]?
            switch flaw {
            case .byFingerprintKey: key = device.key
            case .touchByPasswordKey: statement.claims.factor = Self.touchLine
            case .altered:
                var other = statement
                other.claims.factor = Self.touchLine
                sent = other.encoded()
            case .alteredBack:
                var other = statement
                other.claims.factor = Self.touchLine
                (sent, statement, key) = (statement.encoded(), other, device.key)
            case .byAnother: key = try .generate()
            case .namespace: namespace = .registration
            case .replayed:
                let body = try device.signed(statement.encoded(), .login, by: password)
                #expect(try await server.send("POST", "/v1/login", body).status == 200)
            case .stale: server.time.pass(60)
            case .setBack: statement.claims.counter = 1
            case .removalWord: statement.claims.factor = [UInt8]("possession".utf8)
            }
            var body = try device.signed(statement.encoded(), namespace, by: key)
            if let sent { body["statement"] = base64(sent) }
            let reply = try await server.send("POST", "/v1/login", body)
            #expect(reply.status == 401 && reply.code == "refused", "\(flaw)")
        }
        #expect(try await server.logIn(device).status == 200)
    }

    @Test(
        "is refused where the policy accepts none, and ends what it began",
        arguments: Backend.allCases)
    func policy(backend: Backend) async throws {
        let (server, device) = try await TestServer.acceptingPasswords(backend)
        device.confirm(by: .password)
        let tokens = try #require(try await server.logIn(device)["tokens"] as? [String: Any])
        try await server.administer(["application", "set", "shop", "--passwords", "no"])
        #expect(try await server.logIn(device).code == "policy")
        let refreshed = try await server.send(
            "POST", "/v1/token/refresh", ["refreshToken": tokens["refreshToken"] ?? ""])
        #expect(refreshed.code == "token-refused")
        device.confirm(by: .fingerprint)
        #expect(try await server.logIn(device).status == 200)
        // Nor is a key for it registered from here on.
        let other = try TestDevice(id: 0xd2)
        other.passwordKey = try .generate()
        let begun = try await server.begin(other)
        #expect(begun["factors"] as? [String] == ["fingerprint"])
        #expect(try await server.prove(other, begun).code == "policy")
    }

    @Test("is accepted where touches are not", arguments: Backend.allCases)
    func withoutTouches(backend: Backend) async throws {
        let (server, device) = try await TestServer.acceptingPasswords(backend)
        try await server.administer(["application", "set", "shop", "--biometrics", "no"])
        #expect(try await server.logIn(device).code == "policy")
        device.confirm(by: .password)
        #expect(try await server.logIn(device).status == 200)
    }

    @Test("fails together with the finger: both reach one limit", arguments: Backend.allCases)
    func countedTogether(backend: Backend) async throws {
        let (server, device) = try await TestServer.acceptingPasswords(backend)
        #expect(try await server.logIn(device).status == 200)
        server.time.pass(5)
        var left: [Int?] = []
        for round in 0..<5 {
            device.confirm(by: round % 2 == 0 ? .password : .fingerprint)
            var statement = device.answer(
                try await server.challenge(device), "login", at: server.time.now)
            statement.claims.counter = 1
            let reply = try await server.send(
                "POST", "/v1/login",
                try device.signed(statement.encoded(), .login, by: device.signingKey))
            left.append(reply["remainingAttempts"] as? Int)
        }
        #expect(left == [4, 3, 2, 1, 0])
        for factor in KeyFactor.allCases {
            device.confirm(by: factor)
            #expect(try await server.logIn(device).code == "key-blocked")
        }
    }

    @Test("is no code for a request, and gets no verdict", arguments: Backend.allCases)
    func onlyChallenges(backend: Backend) async throws {
        let (server, device) = try await TestServer.acceptingPasswords(backend)
        device.confirm(by: .password)
        let request = try device.statement(at: server.time.now)
        #expect(
            try await server.refusal(of: try device.header(request, by: device.signingKey))
                == "refused")
        #expect(
            try await server.refusal(
                of: try device.header(try device.statement(at: server.time.now))) == "policy")
        let module: Challenge = try fresh()
        var statement = device.answer(
            try await server.challenge(device), "login", at: server.time.now)
        statement.purpose = ModulePurpose.text(module, local: "al")
        var body = try device.signed(statement.encoded(), .login, by: device.signingKey)
        body["module"] = ["challenge": base64(module.bytes), "account": "al"]
        #expect(try await server.send("POST", "/v1/login", body).code == "policy")
    }
}

@Suite("A key for the password")
struct PasswordKeyTests {
    @Test(
        "is registered with the other one by a statement that both sign",
        arguments: Backend.allCases)
    func registered(backend: Backend) async throws {
        let server = try await TestServer.make(
            backend, policy: ApplicationPolicy(passwords: true))
        for flaw in ["unnamed", "unsigned", "another", "namespace", "none"] {
            let device = try TestDevice()
            device.passwordKey = try .generate()
            let begun = try await server.begin(device)
            #expect(begun["factors"] as? [String] == ["fingerprint", "password"])
            var statement = device.answer(
                try begun.binary("challenge"), "register", at: server.time.now)
            if flaw != "unnamed" { statement.purpose = device.passwordKeyPurpose }
            var key = try #require(try device.proofOfPasswordKey(in: statement))
            let (one, other) = (try #require(device.passwordKey), try P256PrivateKey.generate())
            switch flaw {
            case "unsigned":
                key["signature"] = base64(
                    try other.signature(of: statement.encoded(), in: .registration).blob)
            case "another": key["publicKey"] = base64(other.publicPoint)
            case "namespace":
                key["signature"] = base64(
                    try one.signature(of: statement.encoded(), in: .login).blob)
            default: break
            }
            var body = try device.signed(statement.encoded(), .registration)
            body["publicKey"] = base64(device.key.publicPoint)
            body["passwordKey"] = key
            let reply = try await server.send(
                "POST", "/v1/registrations/\(device.registration)/proof", body)
            #expect(reply.code == (flaw == "none" ? nil : "refused"), "\(flaw)")
        }
    }

    @Test(
        "lets a registration be confirmed by the password, and only with it",
        arguments: Backend.allCases)
    func confirmedByPassword(backend: Backend) async throws {
        let server = try await TestServer.make(
            backend, policy: ApplicationPolicy(passwords: true))
        let without = try TestDevice()
        without.confirm(by: .password)
        #expect(try await server.prove(without, try await server.begin(without)).code == "policy")
        let device = try TestDevice()
        device.passwordKey = try .generate()
        device.confirm(by: .password)
        try await server.register(device)
        for factor in KeyFactor.allCases {
            device.confirm(by: factor)
            #expect(try await server.logIn(device).status == 200, "\(factor)")
        }
    }

    /// Sends a new key for the password, which a touch authorises.
    private func replace(
        _ device: TestDevice, at server: TestServer, action: String = "password-key",
        of registration: String? = nil, by signer: P256PrivateKey? = nil,
        _ change: (inout [String: Any]) throws -> Void = { _ in }
    ) async throws -> Reply {
        var statement = device.answer(
            try await server.challenge(device, action), action, at: server.time.now)
        statement.purpose = device.passwordKeyPurpose
        var body = try device.signed(statement.encoded(), .login, by: signer)
        body["passwordKey"] = try device.proofOfPasswordKey(in: statement)
        try change(&body)
        return try await server.send(
            "POST", "/v1/registrations/\(registration ?? device.registration)/password-key", body)
    }

    @Test("is replaced after a touch, at every server of the database", arguments: Backend.allCases)
    func replaced(backend: Backend) async throws {
        let (server, device) = try await TestServer.acceptingPasswords(backend)
        let neighbour = try await server.neighbour()
        let old = try #require(device.passwordKey)
        device.confirm(by: .password)
        for each in [server, neighbour] { #expect(try await each.logIn(device).status == 200) }
        device.confirm(by: .fingerprint)
        device.passwordKey = try .generate()
        #expect(try await replace(device, at: server).status == 200)
        device.confirm(by: .password)
        for each in [server, neighbour] {
            #expect(try await each.logIn(device).status == 200)
            let statement = device.answer(
                try await each.challenge(device), "login", at: each.time.now)
            let reply = try await each.send(
                "POST", "/v1/login", try device.signed(statement.encoded(), .login, by: old))
            #expect(reply.code == "refused")
        }
    }

    @Test("is added to a registration that has none", arguments: Backend.allCases)
    func added(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        device.passwordKey = try .generate()
        // Not before the application, or one of its templates, accepts passwords.
        #expect(try await replace(device, at: server).code == "policy")
        try await server.makeTemplate(factors: .both)
        #expect(try await replace(device, at: server).status == 200)
        device.confirm(by: .password)
        #expect(try await server.logIn(device).code == "policy")
        try await server.administer(["application", "set", "shop", "--passwords", "yes"])
        #expect(try await server.logIn(device).status == 200)
    }

    @Test("is replaced by nobody else, and with nothing less", arguments: Backend.allCases)
    func refusals(backend: Backend) async throws {
        let (server, device) = try await TestServer.acceptingPasswords(backend)
        let bob = try TestDevice(id: 0xd3)
        bob.account = "bob"
        try await server.register(bob)
        let old = try #require(device.passwordKey)
        device.passwordKey = try .generate()
        // With the old password in place of a touch.
        device.confirm(by: .password)
        #expect(try await replace(device, at: server, by: old).code == "policy")
        device.confirm(by: .fingerprint)
        #expect(try await replace(device, at: server, by: old).code == "refused")
        #expect(try await replace(device, at: server, action: "login").code == "refused")
        #expect(
            try await replace(device, at: server, of: bob.registration).code == "not-found")
        let another = try await replace(device, at: server) { body in
            body["passwordKey"] = [
                "publicKey": base64(try P256PrivateKey.generate().publicPoint),
                "signature": (body["passwordKey"] as? [String: Any])?["signature"] ?? "",
            ]
        }
        #expect(another.code == "refused")
        device.passwordKey = old
        device.confirm(by: .password)
        #expect(try await server.logIn(device).status == 200)
    }

    @Test("is made for the token that reads operations, too", arguments: Backend.allCases)
    func macToken(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.makeTemplate(factors: .either)
        let device = try TestDevice()
        device.passwordKey = try .generate()
        try await server.register(device)
        device.confirm(by: .password)
        let statement = device.answer(
            try await server.challenge(device, "mac-token"), "mac-token", at: server.time.now,
            purpose: "operations")
        let reply = try await server.send(
            "POST", "/v1/mac-tokens",
            try device.signed(statement.encoded(), .login, by: device.signingKey))
        #expect(reply.status == 201 || reply.status == 200)
    }
}
