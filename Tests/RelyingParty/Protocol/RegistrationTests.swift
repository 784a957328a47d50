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

@Suite("A registration")
struct RegistrationTests {
    @Test("begins with a code, and is ACTIVE with the proof", arguments: Backend.allCases)
    func accepted(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        let begun = try await server.begin(device)
        #expect(begun.status == 201)
        #expect(begun["account"] as? String == "alice")
        #expect(begun["audience"] as? String == device.audience)
        let path = "/v1/registrations/\(device.registration)"
        let created = try await server.ask("GET", path)
        #expect(created["status"] as? String == "CREATED" && created["credential"] == nil)
        let proven = try await server.prove(device, begun)
        #expect(proven.status == 200)
        #expect(proven["status"] as? String == "ACTIVE")
        let shown = try await server.ask("GET", path)
        #expect(shown["status"] as? String == "ACTIVE")
        #expect(shown["key"] as? String == "tpm")
        #expect(shown["secureBoot"] as? String == "on")
        #expect(shown["fingerprint"] as? String == keyFingerprint(device.key.publicPoint))
        #expect(shown["credential"] as? String == device.credential.text)
    }

    @Test("is in the audit trail from its beginning on", arguments: Backend.allCases)
    func trail(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        _ = try await server.begin(device)
        let rows = try await server.rows(
            """
            SELECT application, account, registration, address FROM audit
            WHERE event = 'registration' AND outcome = 'begun'
            """)
        #expect(rows.count == 1)
        for row in rows {
            #expect(try row.text(0) == "shop" && row.text(1) == "alice")
            #expect(try row.text(2) == device.registration && row.text(3) == "192.0.2.1")
        }
    }

    @Test("that is never proven is forgotten after an hour", arguments: Backend.allCases)
    func forgotten(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let (device, other) = (try TestDevice(), try TestDevice(id: 0xd2))
        // One that is begun and is replaced, one that stays begun, and one that is proven.
        _ = try await server.begin(other)
        try await server.register(device)
        let late = try TestDevice(id: 0xd3)
        let begun = try await server.begin(late)
        let status: StaticString = "SELECT status FROM registration ORDER BY created, status"
        #expect(try await server.rows(status).count == 3)
        server.time.pass(3_600)
        await server.service.maintenance.forgetOld()
        #expect(try await server.rows(status).count == 3)
        #expect(try await server.prove(late, begun).code == "refused")
        server.time.pass(1)
        await server.service.maintenance.forgetOld()
        #expect(try await server.rows(status).map { try $0.text(0) } == ["ACTIVE"])
        #expect(try await server.prove(late, begun).code == "refused")
        let path = "/v1/registrations/\(late.registration)"
        #expect(try await server.ask("GET", path).status == 404)
        #expect(try await server.logIn(device).status == 200)
    }

    @Test("begins once with a code, in time, and not with another", arguments: Backend.allCases)
    func codes(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        func begin(_ code: String) async throws -> String? {
            try await server.send(
                "POST", "/v1/registrations",
                ["code": code, "device": String(repeating: "0", count: 32)]
            ).code
        }
        func fresh() async throws -> String {
            try await server.ask("POST", "/v1/activations", ["account": "alice"]).text("code")
        }
        let used = try await fresh()
        #expect(try await begin(used.lowercased()) == nil)
        #expect(try await begin(used) == "activation-refused")
        let replaced = try await fresh()
        let late = try await fresh()
        #expect(try await begin(replaced) == "activation-refused")
        server.time.pass(600)
        #expect(try await begin(late) == "activation-refused")
        for wrong in ["", "x", "00000-00000-00000-00000", String(repeating: "A", count: 100)] {
            #expect(try await begin(wrong) == "activation-refused")
        }
    }

    @Test("is begun once by many uses of one code", arguments: Backend.allCases)
    func raced(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let code = try await server.ask("POST", "/v1/activations", ["account": "alice"])
            .text("code")
        let begun = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await server.send(
                        "POST", "/v1/registrations",
                        ["code": code, "device": String(repeating: "0", count: 32)]
                    ).status
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 == 201 ? 1 : 0 }
        }
        #expect(begun == 1)
    }

    /// What is altered of a proof that would be accepted.
    enum Alteration: String, CaseIterable {
        case signature, publicKey, namespace, action, challenge, account, device, audience, path
    }

    @Test("is not proven by anything else", arguments: Backend.allCases)
    func altered(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        for alteration in Alteration.allCases {
            let device = try TestDevice()
            let begun = try await server.begin(device)
            var statement = device.answer(
                try begun.binary("challenge"), "register", at: server.time.now)
            var (key, namespace) = (device.key, SignatureNamespace.registration)
            var path = device.registration
            switch alteration {
            case .signature: key = try .generate()
            case .publicKey: break
            case .namespace: namespace = .login
            case .action: statement.action = LoginAction.login
            case .challenge: statement.challenge.flipBit(ofByte: 31)
            case .account: statement.head.account = "bob"
            case .device: statement.head.device.flipBit(ofByte: 15)
            case .audience: statement.head.audience = "https://other"
            case .path: path = String(path.reversed())
            }
            var body = try device.signed(statement.encoded(), namespace, by: key)
            let shown = alteration == .publicKey ? try P256PrivateKey.generate() : device.key
            body["publicKey"] = base64(shown.publicPoint)
            let reply = try await server.send("POST", "/v1/registrations/\(path)/proof", body)
            #expect(reply.status == (alteration == .action ? 400 : 401), "\(alteration)")
            let state = try await server.ask("GET", "/v1/registrations/\(device.registration)")
            #expect(state["status"] as? String == "CREATED", "\(alteration)")
        }
        // The audit trail has whose registration it was, and never who the statement said.
        let trail = try await server.rows(
            """
            SELECT application, account, detail FROM audit
            WHERE event = 'registration' AND outcome = 'refused'
            """)
        #expect(trail.count == Alteration.allCases.count - 1)
        for row in trail {
            let isKnown = try !row.text(0).isEmpty
            #expect(try row.text(0) == (isKnown ? "shop" : ""))
            #expect(try row.text(1) == (isKnown ? "alice" : ""))
            #expect(try row.text(2).hasPrefix("unknown registration") == !isKnown)
        }
        #expect(try trail.filter { row in try row.text(0).isEmpty }.count == 1)
    }

    @Test("is begun by the last of many codes made at once", arguments: Backend.allCases)
    func codesRaced(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    let made = try await server.ask("POST", "/v1/activations", ["account": "alice"])
                    #expect(made.status == 201)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await server.rows("SELECT hash FROM activation WHERE used IS NULL").count == 1)
        #expect(try await server.rows("SELECT id FROM account").count == 1)
    }

    @Test("changes only from the state that was read", arguments: Backend.allCases)
    func stateKept(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        guard let id = RegistrationID(text: device.registration) else { throw Unexpected("no id") }
        let changed = try await server.database.write { store throws(DatabaseFault) in
            try store.registrations.setStatus(
                id, from: .blocked, to: .removed, reason: "", at: TestTime.start)
        }
        #expect(!changed)
        #expect(
            try await server.rows("SELECT id FROM token_session WHERE revoked IS NULL").count == 1)
        let path = "/v1/registrations/\(device.registration)"
        #expect(try await server.ask("GET", path)["status"] as? String == "ACTIVE")
    }

    @Test("is proven once, and in time", arguments: Backend.allCases)
    func once(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        let begun = try await server.begin(device)
        #expect(try await server.prove(device, begun).status == 200)
        #expect(try await server.prove(device, begun).code == "refused")
        let late = try TestDevice(id: 2)
        let other = try await server.begin(late)
        server.time.pass(300)
        #expect(try await server.prove(late, other).code == "refused")
    }

    @Test("does not take a credential that is registered", arguments: Backend.allCases)
    func taken(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let other = try TestDevice(id: 2)
        other.credential = device.credential
        let begun = try await server.begin(other)
        #expect(try await server.prove(other, begun).code == "conflict")
        #expect(try await server.logIn(device).status == 200)
    }

    @Test("awaits the comparison of its fingerprint where the policy says so")
    func committed() async throws {
        var policy = ApplicationPolicy()
        policy.commitRequired = true
        let server = try await TestServer.make(.sqlite, policy: policy)
        let device = try TestDevice()
        let proven = try await server.prove(device, try await server.begin(device))
        #expect(proven["status"] as? String == "PENDING_COMMIT")
        #expect(try await server.logIn(device).code == "conflict")
        let path = "/v1/registrations/\(device.registration)/commit"
        #expect(
            try await server.ask("POST", path, ["fingerprint": "SHA256:other"]).code == "conflict")
        let fingerprint = try proven.text("fingerprint")
        let done = try await server.ask("POST", path, ["fingerprint": fingerprint])
        #expect(done["status"] as? String == "ACTIVE")
        #expect(try await server.ask("POST", path, ["fingerprint": fingerprint]).status == 409)
        #expect(try await server.logIn(device).status == 200)
    }

    @Test("takes the place of the other where one device is allowed", arguments: Backend.allCases)
    func replaced(backend: Backend) async throws {
        var policy = ApplicationPolicy()
        policy.severalDevices = false
        let server = try await TestServer.make(backend, policy: policy)
        let (old, new) = (try TestDevice(), try TestDevice(id: 2))
        try await server.register(old)
        try await server.register(new)
        #expect(try await server.logIn(new).status == 200)
        #expect(try await server.logIn(old).code == "key-replaced")
        // Who cannot show that the key was theirs learns nothing.
        old.key = try .generate()
        #expect(try await server.logIn(old).code == "refused")
    }

    @Test("is the only one, however many are proven at once", arguments: Backend.allCases)
    func replacedAtOnce(backend: Backend) async throws {
        var policy = ApplicationPolicy()
        policy.severalDevices = false
        let server = try await TestServer.make(backend, policy: policy)
        var proofs: [(path: String, body: [String: String])] = []
        for number in 1...20 as ClosedRange<UInt8> {
            let device = try TestDevice(id: number)
            let begun = try await server.begin(device)
            let statement = device.answer(
                try begun.binary("challenge"), "register", at: server.time.now)
            let signature = try device.key.signature(of: statement.encoded(), in: .registration)
            proofs.append(
                (
                    "/v1/registrations/\(device.registration)/proof",
                    [
                        "statement": base64(statement.encoded()),
                        "signature": base64(signature.blob),
                        "publicKey": base64(device.key.publicPoint),
                    ]
                ))
        }
        let proven = try await withThrowingTaskGroup(of: Int.self) { group in
            for (path, body) in proofs {
                group.addTask { try await server.send("POST", path, body).status }
            }
            return try await group.reduce(into: 0) { $0 += $1 == 200 ? 1 : 0 }
        }
        // The first takes the place of all that were begun.
        #expect(proven == 1)
        let list = try await server.ask("GET", "/v1/accounts/alice/registrations")
        let states = (list["registrations"] as? [[String: Any]] ?? []).map {
            $0["status"] as? String
        }
        #expect(states.filter { $0 == "ACTIVE" }.count == 1)
    }

    @Test("stands beside others of other devices where several are", arguments: Backend.allCases)
    func several(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let (one, two) = (try TestDevice(), try TestDevice(id: 2))
        try await server.register(one)
        try await server.register(two)
        #expect(try await server.logIn(one).status == 200)
        #expect(try await server.logIn(two).status == 200)
        let again = try TestDevice()
        try await server.register(again)
        #expect(try await server.logIn(one).code == "key-replaced")
        let list = try await server.ask("GET", "/v1/accounts/alice/registrations")
        #expect((list["registrations"] as? [[String: Any]])?.count == 3)
        #expect(try await server.ask("GET", "/v1/accounts/nobody/registrations").status == 200)
    }

    @Test("that the application removes or blocks is reported as such", arguments: Backend.allCases)
    func removed(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let path = "/v1/registrations/\(device.registration)"
        #expect(try await server.ask("POST", path + "/block", [:]).status == 200)
        #expect(try await server.ask("POST", path + "/block", [:]).status == 409)
        #expect(try await server.ask("GET", path)["reason"] as? String == "application")
        #expect(try await server.logIn(device).code == "key-blocked")
        let unblocked = try await server.ask("POST", path + "/unblock", [:])
        #expect(unblocked.status == 200 && unblocked["reason"] == nil)
        #expect(try await server.logIn(device).status == 200)
        #expect(try await server.ask("POST", path + "/remove", [:]).status == 200)
        #expect(try await server.logIn(device).code == "key-removed")
        #expect(try await server.ask("POST", path + "/unblock", [:]).status == 409)
        #expect(try await server.ask("POST", path + "/remove", [:]).status == 409)
    }

    @Test("is not made with a counter that its column cannot hold", arguments: Backend.allCases)
    func tooLargeCounter(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        let begun = try await server.begin(device)
        device.counter = UInt64(Int64.max)
        let refused = try await server.prove(device, begun)
        #expect(refused.status == 409 && refused.code == "conflict")
        #expect(try refused.text("title").contains("63 bits"))
        // Its challenge is used up; the largest that fits registers with another.
        #expect(try await server.prove(device, begun).code == "refused")
        let again = try await server.begin(device)
        device.counter = UInt64(Int64.max) - 1
        #expect(try await server.prove(device, again).status == 200)
    }

    @Test("is given up by its own device, with a touch", arguments: Backend.allCases)
    func disabled(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let (device, other) = (try TestDevice(), try TestDevice(id: 2))
        try await server.register(device)
        try await server.register(other)
        func disable(_ path: String, _ action: String) async throws -> Reply {
            let challenge = try await server.challenge(device, action)
            let statement = device.answer(challenge, action, at: server.time.now)
            return try await server.send(
                "POST", "/v1/registrations/\(path)/disable",
                try device.signed(statement.encoded(), .login))
        }
        #expect(try await disable(device.registration, "login").code == "refused")
        #expect(try await disable(other.registration, "remove").status == 404)
        #expect(try await server.logIn(other).status == 200)
        let gone = try await disable(device.registration, "remove")
        #expect(gone["status"] as? String == "REMOVED")
        #expect(try await server.logIn(device).code == "key-removed")
    }

    @Test("of one application is not another's to see or change", arguments: Backend.allCases)
    func foreign(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let key = try await server.makeApplication("bank")
        let device = try TestDevice()
        try await server.register(device)
        let path = "/v1/registrations/\(device.registration)"
        #expect(try await server.send("GET", path, key: key).status == 404)
        for change in ["/block", "/unblock", "/remove", "/commit"] {
            let body = change == "/commit" ? ["fingerprint": "SHA256:x"] : [:]
            #expect(try await server.send("POST", path + change, body, key: key).status == 404)
        }
        let list = try await server.send("GET", "/v1/accounts/alice/registrations", key: key)
        #expect((list["registrations"] as? [Any])?.isEmpty == true)
        #expect(try await server.logIn(device).status == 200)
        // The same account's name at the other application is another account.
        var statement = device.answer(
            try await server.challenge(device, application: "bank"), "login",
            at: server.time.now)
        #expect(
            try await server.send(
                "POST", "/v1/login", try device.signed(statement.encoded(), .login)
            ).code == "refused")
        statement.head.audience = "https://id.example.org/bank"
        #expect(
            try await server.send(
                "POST", "/v1/login", try device.signed(statement.encoded(), .login)
            ).code == "refused")
    }
}
