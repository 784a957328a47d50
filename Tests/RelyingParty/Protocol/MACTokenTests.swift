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

@Suite("A MAC token")
struct MACTokenTests {
    @Test("shows that the device is there, and no touch", arguments: Backend.allCases)
    func accepted(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        let header = try token.header(at: server.time.now)
        let reply = try await server.verify(header)
        #expect(reply["valid"] as? Bool == true)
        #expect(reply["factor"] as? String == "possession")
        #expect(reply["account"] as? String == "alice")
        #expect(reply["registration"] as? String == device.registration)
        #expect(try await server.refusal(of: header) == "replayed")
        let raced = try token.header(at: server.time.now)
        #expect(try await server.race { try await $0.refusal(of: raced) == nil } == 1)
    }

    @Test("lies sealed in the database", arguments: Backend.allCases)
    func sealed(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        let rows = try await server.rows("SELECT sealed FROM mac_token")
        let sealed = try #require(rows.first).bytes(0)
        #expect(rows.count == 1)
        #expect(sealed.count == 12 + 32 + 16)
        #expect(!sealed.indices.contains { sealed[$0...].starts(with: token.secret.prefix(8)) })
        // Moved to another row it does not open, and gives no access.
        let other = try await server.macToken(device, name: "other")
        try await server.database.write { store throws(DatabaseFault) in
            try store.run(
                "UPDATE mac_token SET sealed = $1 WHERE id = $2",
                [.bytes(sealed), .bytes(other.id.bytes)])
        }
        var moved = token
        moved.id = other.id
        let reply = try await server.verify(try moved.header(at: server.time.now))
        #expect(reply.code == "unavailable")
    }

    @Test("is refused where anything is altered", arguments: Backend.allCases)
    func altered(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        let other = try await server.macToken(device, name: "other")
        let header = try token.header(at: server.time.now)
        for request in [
            TestRequest(method: "PUT"), TestRequest(resource: "/"), TestRequest(body: []),
        ] {
            #expect(try await server.refusal(of: header, request) == "refused")
        }
        var forged = token
        forged.secret[0] ^= 1
        var exchanged = token
        exchanged.id = other.id
        var unknown = token
        unknown.id.flipBit(ofByte: 0)
        var readdressed = token
        readdressed.audience += "2"
        for wrong in [forged, exchanged, unknown, readdressed] {
            let header = try wrong.header(at: server.time.now)
            #expect(try await server.refusal(of: header) == "refused")
        }
        let text = try MACAuthorization(header: [UInt8](header.utf8))
        let changes = [
            MACAuthorization(
                token: text.token, nonce: [UInt8](repeating: 1, count: 32), issued: text.issued,
                mac: text.mac),
            MACAuthorization(
                token: text.token, nonce: text.nonce,
                issued: Instant(seconds: text.issued.seconds + 1), mac: text.mac),
            MACAuthorization(
                token: text.token, nonce: text.nonce, issued: text.issued,
                mac: [UInt8](repeating: 0, count: 32)),
        ]
        for change in changes {
            let header = String(decoding: change.header, as: UTF8.self)
            #expect(try await server.refusal(of: header) == "refused")
        }
        let bank = try await server.makeApplication("bank")
        #expect(try await server.refusal(of: header, key: bank) == "refused")
        #expect(try await server.refusal(of: header) == nil)
    }

    @Test("holds for half a minute both ways", arguments: Backend.allCases)
    func window(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        for (offset, code) in [(-31, "clock"), (-30, nil), (30, nil), (31, "clock")]
            as [(Int64, String?)]
        {
            let header = try token.header(at: server.time.now + offset)
            #expect(try await server.refusal(of: header) == code, "\(offset)")
        }
    }

    @Test("neither counts failures nor forgets them", arguments: Backend.allCases)
    func uncounted(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        #expect(try await server.logIn(device).status == 200)
        server.time.pass(1)
        #expect(try await server.failedLogin(device)["remainingAttempts"] as? Int == 4)
        var forged = token
        forged.secret[0] ^= 1
        for _ in 0..<10 {
            let reply = try await server.verify(try forged.header(at: server.time.now))
            #expect(reply["remainingAttempts"] == nil)
        }
        #expect(try await server.refusal(of: token.header(at: server.time.now)) == nil)
        #expect(try await server.failedLogin(device)["remainingAttempts"] as? Int == 3)
    }

    @Test("ends when it is replaced, revoked or too old", arguments: Backend.allCases)
    func ended(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let first = try await server.macToken(device)
        let other = try await server.macToken(device, name: "other", expiresIn: 60)
        let second = try await server.macToken(device)
        func code(_ token: TestMACToken) async throws -> String? {
            try await server.refusal(of: token.header(at: server.time.now))
        }
        #expect(try await code(first) == "token-refused")
        #expect(try await code(second) == nil)
        #expect(try await code(other) == nil)
        server.time.pass(60)
        #expect(try await code(other) == "token-refused")
        let list = try await server.ask(
            "GET", "/v1/registrations/\(device.registration)/mac-tokens")
        let tokens = try #require(list["tokens"] as? [[String: Any]])
        #expect(tokens.count == 3)
        #expect(tokens.allSatisfy { $0["secret"] == nil })
        #expect(tokens.filter { $0["revoked"] as? Bool == true }.count == 1)
        let path = "/v1/mac-tokens/\(hexadecimal(second.id))/revoke"
        let bank = try await server.makeApplication("bank")
        #expect(try await server.send("POST", path, [:], key: bank).code == "not-found")
        #expect(try await code(second) == nil)
        #expect(try await server.ask("POST", path, [:]).status == 204)
        #expect(try await code(second) == "token-refused")
        #expect(try await server.ask("POST", path, [:]).code == "conflict")
    }

    @Test(
        "ends with its registration, and rests while that is blocked", arguments: Backend.allCases)
    func registration(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        func code() async throws -> String? {
            try await server.refusal(of: token.header(at: server.time.now))
        }
        let path = "/v1/registrations/\(device.registration)"
        _ = try await server.ask("POST", path + "/block", [:])
        #expect(try await code() == "key-blocked")
        _ = try await server.ask("POST", path + "/unblock", [:])
        #expect(try await code() == nil)
        _ = try await server.ask("POST", path + "/remove", [:])
        #expect(try await code() == "key-removed")
        let rows = try await server.rows("SELECT id FROM mac_token WHERE revoked IS NULL")
        #expect(rows.isEmpty)
    }

    @Test(
        "that was accepted before is refused once its row is gone or another's",
        arguments: Backend.allCases)
    func remembered(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let other = try TestDevice(id: 0xd2)
        other.account = "bob"
        try await server.register(other)
        let token = try await server.macToken(device)
        func code() async throws -> String? {
            try await server.refusal(of: token.header(at: server.time.now))
        }
        #expect(try await code() == nil)
        // The other registration's row does not become this token's.
        try await server.move(token, to: other.registration)
        #expect(try await code() == "refused")
        #expect(try await code() == nil)
        let reply = try await server.verify(token.header(at: server.time.now))
        #expect(reply["account"] as? String == "bob")
        try await server.move(token, to: device.registration)
        #expect(try await code() == "refused")
        // A MAC by the right secret, for a token that was deleted, and with a stale time.
        #expect(try await code() == nil)
        try await server.database.write { store throws(DatabaseFault) in
            try store.run("DELETE FROM mac_token WHERE id = $1", [.bytes(token.id.bytes)])
        }
        #expect(try await server.refusal(of: token.header(at: server.time.now - 60)) == "refused")
        #expect(try await code() == "refused")
        #expect(try await server.audited("request", "refused") == 4)
    }

    @Test("requires a touch that confirmed its name", arguments: Backend.allCases)
    func issuing(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        for name in ["", "\u{1}", String(repeating: "a", count: 129)] {
            #expect(try await server.askForMACToken(device, name: name).code == "malformed")
        }
        for seconds in [59, 31_536_001, -1] {
            let reply = try await server.askForMACToken(device, expiresIn: seconds)
            #expect(reply.code == "malformed")
        }
        // A challenge for a login makes no token, and one for a token is no login.
        let login = try await server.challenge(device)
        let asLogin = device.answer(login, "mac-token", at: server.time.now, purpose: "sync")
        let statement = device.answer(
            try await server.challenge(device, "mac-token"), "login", at: server.time.now)
        #expect(
            try await server.send(
                "POST", "/v1/mac-tokens", try device.signed(asLogin.encoded(), .login)
            ).code == "refused")
        #expect(
            try await server.send(
                "POST", "/v1/login", try device.signed(statement.encoded(), .login)
            ).code == "refused")
        #expect(try await server.rows("SELECT id FROM mac_token").isEmpty)
        #expect(try await server.askForMACToken(device).status == 201)
    }
}

extension TestServer {
    /// Moves a token's row to another registration, as no call does.
    fileprivate func move(_ token: TestMACToken, to registration: String) async throws {
        guard let id = RegistrationID(text: registration) else { throw Unexpected("no id") }
        try await database.write { store throws(DatabaseFault) in
            try store.run(
                "UPDATE mac_token SET registration = $1 WHERE id = $2",
                [.bytes(id.bytes), .bytes(token.id.bytes)])
        }
    }

    /// A login of the device with a counter that it had before.
    fileprivate func failedLogin(_ device: TestDevice) async throws -> Reply {
        device.counter = 0
        return try await logIn(device)
    }
}
