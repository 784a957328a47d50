// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A decision of an operation")
struct DecidingTests {
    @Test(
        "is the person's, and is kept with whose it was", arguments: Backend.allCases,
        [OperationDecision.approve, .reject])
    func decided(backend: Backend, decision: OperationDecision) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let id = try await server.operation()
        server.time.pass(299)
        let reply = try await server.decide(id, decision, by: device)
        let status = decision == .approve ? "APPROVED" : "REJECTED"
        #expect(reply.status == 200)
        #expect(reply["status"] as? String == status)
        let shown = try await server.ask("GET", "/v1/operations/\(id)")
        #expect(shown["status"] as? String == status)
        #expect(shown["decided"] as? Int == Int(server.time.now))
        #expect(shown["registration"] as? String == device.registration)
        server.time.pass(3_600)
        #expect(try await server.status(id) == status)
        let trail = try await server.rows(
            "SELECT outcome, account, detail FROM audit WHERE event = 'operation-decided'")
        #expect(trail.count == 1)
        #expect(try trail[0].text(0) == "ok")
        #expect(try trail[0].text(1) == "alice")
        #expect(try trail[0].text(2).contains(id))
    }

    /// What is altered of a decision that would be accepted.
    enum Alteration: String, CaseIterable {
        case audience, account, device, credential, operation, challenge, template, data, decision
        case factor, key, boot, enrolment, counter, issued

        func apply(to statement: inout OperationStatement) {
            switch self {
            case .audience: statement.head.audience.altered.append(UInt8(ascii: "2"))
            case .account: statement.head.account = "bob"
            case .device: statement.head.device.flipBit(ofByte: 0)
            case .credential: statement.head.credential.flipBit(ofByte: 0)
            case .operation: statement.operation.flipBit(ofByte: 0)
            case .challenge: statement.challenge.flipBit(ofByte: 0)
            case .template: statement.template = [UInt8]("gift".utf8)
            case .data: statement.data = [UInt8]("pay 1 EUR\nto Bob".utf8)
            case .decision: statement.decision = .reject
            case .factor: statement.claims.factor = [UInt8]("password".utf8)
            case .key: statement.claims.integrity = Integrity(key: .file, secureBoot: .on)
            case .boot: statement.claims.integrity = Integrity(key: .tpm, secureBoot: .off)
            case .enrolment: statement.claims.enrolment += 1
            case .counter: statement.claims.counter += 1
            case .issued: statement.claims.issued = Instant(seconds: 1)
            }
        }

        /// Whether it is refused also where the device itself has signed it so.
        var isAnothers: Bool {
            switch self {
            case .audience, .account, .device, .credential, .operation, .challenge, .template,
                .data:
                true
            case .decision, .factor, .key, .boot, .enrolment, .counter, .issued: false
            }
        }
    }

    @Test("is refused where a line was altered after it was signed", arguments: Backend.allCases)
    func altered(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate(maximumFailures: 100)
        let id = try await server.operation()
        for alteration in Alteration.allCases {
            var statement = device.decision(
                of: try await server.detail(id, for: device), at: server.time.now)
            var body = try device.signed(statement.encoded(), .operation)
            alteration.apply(to: &statement)
            body["statement"] = base64(statement.encoded())
            let reply = try await server.decide(id, body)
            #expect(reply.status == 401, "\(alteration)")
            #expect(reply.code == "refused", "\(alteration)")
        }
        #expect(try await server.status(id) == "PENDING")
        #expect(try await server.decide(id, by: device).status == 200)
    }

    @Test("is refused where the device signs something else", arguments: Backend.allCases)
    func another(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate(maximumFailures: 100)
        let id = try await server.operation()
        for alteration in Alteration.allCases where alteration.isAnothers {
            var statement = device.decision(
                of: try await server.detail(id, for: device), at: server.time.now)
            alteration.apply(to: &statement)
            let reply = try await server.decide(
                id, device.signed(statement.encoded(), .operation))
            #expect(reply.code == "refused", "\(alteration)")
        }
        #expect(try await server.status(id) == "PENDING")
    }

    @Test("is good in its own namespace only", arguments: Backend.allCases)
    func namespace(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate(maximumFailures: 100)
        let id = try await server.operation()
        let shown = try await server.detail(id, for: device)
        for namespace in SignatureNamespace.allCases where namespace != .operation {
            let statement = device.decision(of: shown, at: server.time.now).encoded()
            let reply = try await server.decide(id, device.signed(statement, namespace))
            #expect(reply.code == "refused", "\(namespace)")
        }
        let login = device.answer(shown.challenge, "login", at: server.time.now)
        let reply = try await server.decide(id, device.signed(login.encoded(), .operation))
        #expect(reply.code == "malformed")
        var long = try device.signed([UInt8](repeating: 0x61, count: 11_000), .operation)
        #expect(try await server.decide(id, long).code == "malformed")
        long["statement"] = 7
        #expect(try await server.decide(id, long).code == "malformed")
        #expect(try await server.decide("0", long).code == "not-found")
    }

    @Test("cannot be made by another account or device", arguments: Backend.allCases)
    func stranger(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let (device, second, stranger) = (
            try TestDevice(id: 0xd1), try TestDevice(id: 0xd2), try TestDevice(id: 0xd3)
        )
        stranger.account = "bob"
        for someone in [device, second, stranger] { try await server.register(someone) }
        try await server.makeTemplate()
        var wish = TestServer.payment
        wish["device"] = hexadecimal(device.id)
        let id = try await server.operation(wish)
        let shown = try await server.detail(id, for: device)
        for someone in [second, stranger] {
            let statement = someone.decision(of: shown, at: server.time.now).encoded()
            let reply = try await server.decide(id, someone.signed(statement, .operation))
            #expect(reply.code == "refused")
            #expect(reply["remainingAttempts"] == nil)
        }
        let other = try await server.makeApplication("bank")
        let code = try await server.send(
            "POST", "/v1/activations", ["account": "alice"], key: other)
        #expect(code.status == 201)
        device.audience = "https://id.example.org/bank"
        let statement = device.decision(of: shown, at: server.time.now).encoded()
        let reply = try await server.decide(id, device.signed(statement, .operation))
        #expect(reply.code == "refused")
        device.audience = "https://id.example.org/shop"
        #expect(try await server.decide(id, by: device).status == 200)
    }

    @Test("is made once", arguments: Backend.allCases)
    func twice(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let id = try await server.operation()
        #expect(try await server.decide(id, .reject, by: device).status == 200)
        #expect(try await server.decide(id, .approve, by: device).code == "conflict")
        #expect(try await server.decide(id, .reject, by: device).code == "conflict")
        #expect(try await server.status(id) == "REJECTED")
    }

    @Test("is one of many at once", arguments: Backend.allCases)
    func raced(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let id = try await server.operation()
        let shown = try await server.detail(id, for: device)
        var bodies: [[String: String]] = []
        for index in 0..<1_000 {
            let statement = device.decision(
                of: shown, index % 2 == 0 ? .approve : .reject, at: server.time.now)
            let body = try device.signed(statement.encoded(), .operation)
            bodies.append(body.compactMapValues { $0 as? String })
        }
        #expect(try await server.race("/v1/operations/\(id)/decision", bodies) == 1)
    }

    @Test(
        "fails after wrong signatures by a party that knows the challenge",
        arguments: Backend.allCases)
    func failed(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate(maximumFailures: 3)
        let id = try await server.operation()
        let shown = try await server.detail(id, for: device)
        var guessed = device.decision(of: shown, at: server.time.now)
        guessed.challenge = try fresh()
        for _ in 0..<5 {
            let reply = try await server.decide(
                id, device.signed(guessed.encoded(), .operation, by: .generate()))
            #expect(reply.code == "refused")
            #expect(reply["remainingAttempts"] == nil)
        }
        for left in [2, 1, 0] {
            let statement = device.decision(of: shown, at: server.time.now)
            let reply = try await server.decide(
                id, device.signed(statement.encoded(), .operation, by: .generate()))
            #expect(reply.code == "refused")
            #expect(reply["remainingAttempts"] as? Int == left)
        }
        let state = try await server.ask("GET", "/v1/operations/\(id)")
        #expect(state["status"] as? String == "FAILED")
        #expect(state["failureCount"] as? Int == 3)
        #expect(try await server.decide(id, by: device).code == "conflict")
        #expect(try await server.status(id) == "FAILED")
        #expect(try await server.logIn(device).status == 200)
    }

    @Test("is refused with a counter that was used", arguments: Backend.allCases)
    func counter(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let id = try await server.operation()
        let early = device.decision(
            of: try await server.detail(id, for: device), at: server.time.now)
        #expect(try await server.logIn(device).status == 200)
        let reply = try await server.decide(id, device.signed(early.encoded(), .operation))
        #expect(reply.code == "refused")
        // It may have been overtaken, and is not counted.
        #expect(reply["remainingAttempts"] == nil)
        let state = try await server.ask("GET", "/v1/registrations/\(device.registration)")
        #expect(state["failures"] as? Int == 0)
        #expect(try await server.decide(id, by: device).status == 200)
    }

    @Test(
        "blocks the registration if its own counter goes back repeatedly",
        arguments: Backend.allCases)
    func setBack(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        device.counter = 100
        #expect(try await server.logIn(device).status == 200)
        server.time.pass(1)
        let id = try await server.operation()
        device.counter = 0
        for left in [4, 3, 2, 1, 0] {
            let reply = try await server.decide(id, by: device)
            #expect(reply.code == "refused")
            #expect(reply["remainingAttempts"] as? Int == left)
        }
        device.counter = 200
        #expect(try await server.decide(id, by: device).code == "key-blocked")
        let state = try await server.ask("GET", "/v1/operations/\(id)")
        #expect(state["status"] as? String == "PENDING")
        #expect(state["failureCount"] as? Int == 0)
    }

    @Test(
        "by a device that may no longer decide makes nothing fail",
        arguments: Backend.allCases)
    func uncounted(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let (device, stolen) = (try TestDevice(id: 0xd1), try TestDevice(id: 0xd2))
        for someone in [device, stolen] { try await server.register(someone) }
        try await server.makeTemplate(maximumFailures: 3)
        let id = try await server.operation()
        let shown = try await server.detail(id, for: stolen)
        for change in ["block", "remove"] {
            let path = "/v1/registrations/\(stolen.registration)/\(change)"
            #expect(try await server.ask("POST", path, [:]).status == 200)
            for _ in 0..<3 {
                var statement = stolen.decision(of: shown, at: server.time.now)
                let forged = try stolen.signed(statement.encoded(), .operation, by: .generate())
                statement.data = [UInt8]("pay 1 EUR\nto Eve".utf8)
                let another = try stolen.signed(statement.encoded(), .operation)
                for body in [forged, another] {
                    let reply = try await server.decide(id, body)
                    #expect(reply.code == "refused")
                    #expect(reply["remainingAttempts"] == nil)
                }
            }
        }
        let state = try await server.ask("GET", "/v1/operations/\(id)")
        #expect(state["status"] as? String == "PENDING")
        #expect(state["failureCount"] as? Int == 0)
        #expect(try await server.decide(id, by: device).status == 200)
    }

    @Test("is held to the policy and to the registration's state", arguments: Backend.allCases)
    func objections(backend: Backend) async throws {
        var policy = ApplicationPolicy()
        policy.keys = .tpm
        let server = try await TestServer.make(backend, policy: policy)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let id = try await server.operation()
        device.integrity = Integrity(key: .file, secureBoot: .on)
        #expect(try await server.decide(id, by: device).code == "policy")
        device.integrity = Integrity(key: .tpm, secureBoot: .on)
        device.factor = "possession"
        #expect(try await server.decide(id, by: device).code == "policy")
        device.factor = "fingerprint"
        let path = "/v1/registrations/\(device.registration)"
        _ = try await server.ask("POST", path + "/block", [:])
        #expect(try await server.decide(id, by: device).code == "key-blocked")
        _ = try await server.ask("POST", path + "/remove", [:])
        #expect(try await server.decide(id, by: device).code == "key-removed")
        #expect(try await server.status(id) == "PENDING")
    }
}
