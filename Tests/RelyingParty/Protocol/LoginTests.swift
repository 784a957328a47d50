// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import JSONFormat
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A login to the server")
struct LoginTests {
    @Test("of a registered device gives tokens", arguments: Backend.allCases)
    func accepted(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let reply = try await server.logIn(device)
        #expect(reply.status == 200)
        #expect(reply["valid"] as? Bool == true)
        #expect(reply["account"] as? String == "alice")
        #expect(reply["registration"] as? String == device.registration)
        #expect(reply["status"] as? String == "ACTIVE")
        #expect(reply["factor"] as? String == "fingerprint")
        let tokens = try #require(reply["tokens"] as? [String: Any])
        let token = try #require(tokens["accessToken"] as? String)
        let payload = try JSONWebToken.verify(
            [UInt8](token.utf8), keys: server.service.keys.verifying)
        let claims = try JSON.decode(AccessClaims.self, from: payload)
        #expect(claims.sub == "alice")
        #expect(claims.aud == device.audience)
        #expect(claims.exp == server.time.now + 300)
        #expect(claims.amr == ["fpt", "pop"])
    }

    /// What is altered of a login that would be accepted.
    enum Alteration: String, CaseIterable {
        case key, account, device, credential, audience, challenge, action, namespace, counter
    }

    @Test("is refused where anything is another's", arguments: Backend.allCases)
    func altered(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        for alteration in Alteration.allCases {
            var statement = device.answer(
                try await server.challenge(device), "login", at: server.time.now)
            var key: P256PrivateKey?
            var namespace = SignatureNamespace.login
            switch alteration {
            case .key: key = try .generate()
            case .account: statement.head.account = "bob"
            case .device: statement.head.device.flipBit(ofByte: 0)
            case .credential: statement.head.credential.flipBit(ofByte: 0)
            case .audience: statement.head.audience.altered.append(UInt8(ascii: "2"))
            case .challenge: statement.challenge.flipBit(ofByte: 0)
            case .action: statement.action = [UInt8]("remove".utf8)
            case .namespace: namespace = .registration
            case .counter: statement.claims.counter = 1
            }
            let reply = try await server.send(
                "POST", "/v1/login", try device.signed(statement.encoded(), namespace, by: key))
            #expect(reply.status == 401, "\(alteration)")
            #expect(reply.code == "refused", "\(alteration)")
        }
        #expect(try await server.logIn(device).status == 200)
    }

    @Test("uses its challenge up", arguments: Backend.allCases)
    func once(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let challenge = try await server.challenge(device)
        let first = device.answer(challenge, "login", at: server.time.now)
        let second = device.answer(challenge, "login", at: server.time.now)
        let accepted = try await server.send(
            "POST", "/v1/login", try device.signed(first.encoded(), .login))
        #expect(accepted.status == 200)
        for statement in [first, second] {
            let again = try await server.send(
                "POST", "/v1/login", try device.signed(statement.encoded(), .login))
            #expect(again.code == "refused")
        }
    }

    @Test(
        "gives a verdict only for the module and the name that the device has signed",
        arguments: Backend.allCases)
    func modules(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let challenge: Challenge = try fresh()
        let signed = ModulePurpose.text(challenge, local: "al")
        for (module, name, purpose, status) in [
            (challenge, "al", signed, 200), (try fresh(), "al", signed, 401),
            (challenge, "eve", signed, 401), (challenge, "al", [], 401),
            (challenge, "al", signed + [0x20], 401),
        ] {
            let statement = device.answer(
                try await server.challenge(device), "login", at: server.time.now,
                purpose: String(decoding: purpose, as: UTF8.self))
            var body = try device.signed(statement.encoded(), .login)
            body["module"] = ["challenge": base64(module.bytes), "account": name]
            let reply = try await server.send("POST", "/v1/login", body)
            #expect(reply.status == status, "\(name)")
            guard status == 200 else { continue }
            let given = try #require(reply["verdict"] as? [String: Any])
            let text = try #require(given["statement"] as? String)
            let verdict = try Verdict(
                parsing: try #require(Base64.decode([UInt8](text.utf8), alphabet: .url)))
            #expect(verdict.module == challenge && verdict.local == "al")
        }
        // A module's challenge of another length is none, and the server's own stays unused.
        let statement = device.answer(
            try await server.challenge(device), "login", at: server.time.now,
            purpose: String(decoding: signed, as: UTF8.self))
        var body = try device.signed(statement.encoded(), .login)
        for wrong in [
            "", base64([1]), base64([UInt8](challenge.bytes.dropLast())),
            base64(challenge.bytes + [0]),
        ] {
            body["module"] = ["challenge": wrong, "account": "al"]
            #expect(
                try await server.send("POST", "/v1/login", body).code == "malformed", "\(wrong)")
        }
        body["module"] = ["challenge": base64(challenge.bytes), "account": "al"]
        #expect(try await server.send("POST", "/v1/login", body).status == 200)
    }

    @Test("is refused when its challenge is too old", arguments: Backend.allCases)
    func stale(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let statement = device.answer(
            try await server.challenge(device), "login", at: server.time.now)
        server.time.pass(60)
        let reply = try await server.send(
            "POST", "/v1/login", try device.signed(statement.encoded(), .login))
        #expect(reply.code == "refused")
    }

    @Test("succeeds once for many uses of one challenge at once", arguments: Backend.allCases)
    func raced(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let challenge = try await server.challenge(device)
        var bodies: [Body] = []
        for _ in 0..<1_000 {
            let statement = device.answer(challenge, "login", at: server.time.now)
            let signed = try device.signed(statement.encoded(), .login)
            bodies.append(
                Body(
                    statement: signed["statement"] as? String ?? "",
                    signature: signed["signature"] as? String ?? ""))
        }
        let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
            for body in bodies {
                group.addTask {
                    try await server.send(
                        "POST", "/v1/login",
                        ["statement": body.statement, "signature": body.signature]
                    ).status
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 == 200 ? 1 : 0 }
        }
        #expect(accepted == 1)
    }

    private struct Body: Sendable {
        let statement: String
        let signature: String
    }

    @Test(
        "is not prevented by strangers who know the ids and sign wrongly",
        arguments: Backend.allCases)
    func wrongSignatures(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        for _ in 0..<20 {
            let statement = device.answer(
                try await server.challenge(device), "login", at: server.time.now)
            let reply = try await server.send(
                "POST", "/v1/login",
                try device.signed(statement.encoded(), .login, by: .generate()))
            #expect(reply.code == "refused")
            #expect(reply["remainingAttempts"] == nil)
        }
        let state = try await server.ask("GET", "/v1/registrations/\(device.registration)")
        #expect(state["status"] as? String == "ACTIVE")
        #expect(state["failures"] as? Int == 0)
        #expect(try await server.rows("SELECT id FROM audit WHERE outcome = 'refused'").count == 20)
        #expect(try await server.logIn(device).status == 200)
    }

    @Test("with wrong signatures is limited for the address alone")
    func slowed() async throws {
        let server = try await TestServer.make(.sqlite, rate: 50)
        let device = try TestDevice()
        try await server.register(device)
        let statement = device.answer(
            try await server.challenge(device), "login", at: server.time.now)
        let wrong = try device.signed(statement.encoded(), .login, by: .generate())
        var codes: [String] = []
        for _ in 0..<60 {
            let reply = try await server.send("POST", "/v1/login", wrong, from: "198.51.100.1")
            codes.append(reply.code ?? "")
        }
        #expect(codes[..<50].allSatisfy { $0 == "refused" })
        #expect(codes[50...].allSatisfy { $0 == "slow-down" })
        #expect(try await server.logIn(device).status == 200)
    }

    @Test(
        "blocks the registration if its own counter goes back repeatedly",
        arguments: Backend.allCases)
    func blocked(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        device.counter = 100
        for round in 0..<2 {
            // A right login between forgets what was counted.
            #expect(try await server.logIn(device).status == 200)
            server.time.pass(1)
            let kept = device.counter
            for left in round == 0 ? [4, 3, 2, 1] : [4, 3, 2, 1, 0] {
                device.counter = 0
                let reply = try await server.logIn(device)
                #expect(reply.code == "refused")
                #expect(reply["remainingAttempts"] as? Int == left)
            }
            device.counter = kept
        }
        #expect(try await server.logIn(device).code == "key-blocked")
        let path = "/v1/registrations/\(device.registration)"
        #expect(try await server.ask("POST", path + "/unblock", [:]).status == 200)
        #expect(try await server.logIn(device).status == 200)
    }

    @Test(
        "that was held back on its way until a later one has passed is refused, and not counted",
        arguments: Backend.allCases, [(0, 0), (0, 20), (20, 0)] as [(Int64, Int64)])
    func heldBack(backend: Backend, time: (seconds: Int64, microseconds: Int64)) async throws {
        var policy = ApplicationPolicy()
        policy.maximumFailures = 2
        let server = try await TestServer.make(backend, policy: policy)
        let device = try TestDevice()
        try await server.register(device)
        var held: [[String: Any]] = []
        for _ in 0..<3 {
            let statement = device.answer(
                try await server.challenge(device), "login", at: server.time.now)
            held.append(try device.signed(statement.encoded(), .login))
        }
        server.time.pass(time.seconds)
        server.time.pass(microseconds: time.microseconds)
        #expect(try await server.logIn(device).status == 200)
        server.time.pass(time.seconds)
        server.time.pass(microseconds: time.microseconds)
        for body in held {
            let reply = try await server.send("POST", "/v1/login", body)
            #expect(reply.code == "refused")
            #expect(reply["remainingAttempts"] == nil)
        }
        let state = try await server.ask("GET", "/v1/registrations/\(device.registration)")
        #expect(state["status"] as? String == "ACTIVE")
        #expect(state["failures"] as? Int == 0)
        #expect(try await server.logIn(device).status == 200)
    }

    @Test(
        "of a copy that asks for its own challenge is counted, whatever else was accepted since",
        arguments: Backend.allCases)
    func copied(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        device.counter = 100
        #expect(try await server.logIn(device).status == 200)
        server.time.pass(100)
        device.counter = 50
        let challenge = try await server.challenge(device)
        server.time.pass(1)
        // Both are a use of the registration, and take no counter.
        let code = try device.header(try device.statement(at: server.time.now))
        #expect(try await server.refusal(of: code) == nil)
        #expect(try await server.refusal(of: token.header(at: server.time.now)) == nil)
        let statement = device.answer(challenge, "login", at: server.time.now)
        let reply = try await server.send(
            "POST", "/v1/login", try device.signed(statement.encoded(), .login))
        #expect(reply.code == "refused")
        #expect(reply["remainingAttempts"] as? Int == 4)
    }

    @Test(
        "of a copy that asks within the second of the last login is counted, too",
        arguments: Backend.allCases)
    func copiedAtOnce(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        device.counter = 100
        #expect(try await server.logIn(device).status == 200)
        server.time.pass(microseconds: 1)
        device.counter = 50
        let reply = try await server.logIn(device)
        #expect(reply.code == "refused" && reply["remainingAttempts"] as? Int == 4)
        let operation = try await server.operation()
        let decision = try await server.decide(operation, by: device)
        #expect(decision.code == "refused" && decision["remainingAttempts"] as? Int == 3)
        // An operation of before is not.
        device.counter = 200
        server.time.pass(microseconds: 1)
        #expect(try await server.logIn(device).status == 200)
        device.counter = 150
        let late = try await server.decide(operation, by: device)
        #expect(late.code == "refused" && late["remainingAttempts"] == nil)
    }

    @Test("requires no more than the policy does", arguments: Backend.allCases)
    func policy(backend: Backend) async throws {
        var policy = ApplicationPolicy()
        policy.keys = .tpm
        policy.secureBoot = .on
        let server = try await TestServer.make(backend, policy: policy)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        device.integrity = Integrity(key: .file, secureBoot: .on)
        #expect(try await server.logIn(device).code == "policy")
        device.integrity = Integrity(key: .tpm, secureBoot: .unknown)
        #expect(try await server.logIn(device).code == "policy")
        device.integrity = Integrity(key: .tpm, secureBoot: .on)
        device.factor = "possession"
        #expect(try await server.logIn(device).code == "policy")
        // There is no key for the password, so the signature is not by it.
        device.confirm(by: .password)
        #expect(try await server.logIn(device).code == "refused")
    }

    @Test("does not reveal whether there is an account")
    func silent() async throws {
        let server = try await TestServer.make(.sqlite)
        let device = try TestDevice()
        try await server.register(device)
        let stranger = try TestDevice()
        stranger.account = "nobody"
        for someone in [device, stranger] {
            someone.credential = try fresh()
            let reply = try await server.logIn(someone)
            #expect(reply.status == 401)
            #expect(reply.code == "refused")
            #expect(reply["remainingAttempts"] == nil)
        }
    }
}
