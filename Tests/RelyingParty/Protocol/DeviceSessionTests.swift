// SPDX-License-Identifier: Apache-2.0
import Domain
import Foundation
import HTTPServer
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

/// A device with the MAC token by which it reads.
private struct Reader {
    let server: TestServer
    let token: TestMACToken

    init(_ server: TestServer, _ device: TestDevice) async throws {
        self.server = server
        token = try await server.macToken(device, name: "signet-operations")
    }

    /// Sends a call of the device; `altered` is a path that the header is not for.
    func ask(
        _ method: String, _ path: String, altered: String? = nil, from peer: String = "192.0.2.9"
    ) async throws -> Reply {
        let body = method == "GET" ? nil : [String: Any]()
        let request = TestRequest(
            method: method, resource: path, body: method == "GET" ? [] : [UInt8]("{}".utf8))
        let header = try token.header(of: request, at: server.time.now)
        return try await server.send(
            method, altered ?? path, body, key: nil, headers: [("authorization", header)],
            from: peer)
    }

    func list() async throws -> Reply { try await ask("GET", "/v1/device/sessions") }

    /// The sessions in the list, which must be complete.
    func sessions() async throws -> [[String: Any]] {
        let reply = try await list()
        guard reply.status == 200, let all = reply["sessions"] as? [[String: Any]],
            reply["total"] as? Int == all.count
        else { throw Unexpected("no list: \(reply.members)") }
        return all
    }

    func end(_ session: String) async throws -> Reply {
        try await ask("POST", "/v1/device/sessions/\(session)/revoke")
    }

    func endAll() async throws -> Reply { try await ask("POST", "/v1/device/sessions/revoke") }
}

extension Reply {
    /// A token of a login's answer.
    fileprivate func token(_ name: String) throws -> String {
        guard let tokens = self["tokens"] as? [String: Any] ?? members as [String: Any]?,
            let token = tokens[name] as? String
        else { throw Unexpected("no \(name)") }
        return token
    }
}

@Suite("Sessions, as a device of the account sees them")
struct DeviceSessionTests {
    private func registered(
        _ backend: Backend, _ policy: ApplicationPolicy = ApplicationPolicy()
    ) async throws -> (TestServer, TestDevice, Reader) {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        return (server, device, try await Reader(server, device))
    }

    private func refresh(_ server: TestServer, _ token: String) async throws -> Reply {
        try await server.send("POST", "/v1/token/refresh", ["refreshToken": token])
    }

    private func isActive(_ server: TestServer, _ access: String) async throws -> Bool {
        try await server.ask("POST", "/v1/token/introspect", ["token": access])["active"] as? Bool
            == true
    }

    @Test("are listed with when, from where and by what they began", arguments: Backend.allCases)
    func listed(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        #expect(try await reader.sessions().isEmpty)
        let other = try TestDevice(id: 2)
        try await server.register(other)
        let statement = other.answer(
            try await server.challenge(other), "login", at: server.time.now)
        let first = try await server.send(
            "POST", "/v1/login", try other.signed(statement.encoded(), .login), key: nil,
            headers: [("user-agent", "signet-relay/1\u{1B}")], from: "198.51.100.7")
        #expect(first.status == 200)
        server.time.pass(10)
        #expect(try await server.logIn(device).status == 200)
        server.time.pass(5)
        #expect(try await refresh(server, try first.token("refreshToken")).status == 200)
        let all = try await reader.sessions()
        #expect(all.map { $0["own"] as? Bool } == [true, false])
        let shown = all[1]
        #expect(shown["registration"] as? String == other.registration)
        #expect(shown["device"] as? String == hexadecimal(other.id))
        #expect(shown["factor"] as? String == "fingerprint")
        #expect(shown["address"] as? String == "198.51.100.7")
        #expect(shown["agent"] as? String == "signet-relay/1\u{FFFD}")
        let created = try #require(shown["created"] as? Int)
        #expect(shown["refreshed"] as? Int == created + 15)
        #expect(
            shown["expires"] as? Int == created + Int(ApplicationPolicy().refreshSeconds))
        #expect(all[0]["refreshed"] == nil && all[0]["agent"] == nil)
        #expect(all[0]["created"] as? Int == created + 10)
        // Nothing that would authenticate anyone.
        #expect(shown["refreshToken"] == nil && shown["hash"] == nil)
    }

    @Test("are listed with the name of their device", arguments: Backend.allCases)
    func named(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        try await server.change("UPDATE registration SET name = 'laptop'")
        #expect(try await server.logIn(device).status == 200)
        #expect(try await reader.sessions().map { $0["deviceName"] as? String } == ["laptop"])
    }

    @Test(
        "that a visitor's login began have the address and agent that the application reported",
        arguments: Backend.allCases)
    func confirmed(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        try await server.makeTemplate("login", "log in", purpose: .login)
        for additional in [["address": "203.0.113.5", "agent": "Firefox"], [:]] {
            let begun = try await server.ask(
                "POST", "/v1/login/init",
                ["account": "alice", "template": "login", "additional": additional])
            let id = try begun.text("operation")
            #expect(try await server.decide(id, by: device).status == 200)
            let confirmed = try await server.ask(
                "POST", "/v1/login/confirm",
                ["operation": id, "session": try begun.text("session")])
            #expect(confirmed.status == 200)
            server.time.pass(1)
        }
        let all = try await reader.sessions()
        // Never the address of the application's own back end.
        #expect(all.map { $0["address"] as? String } == [nil, "203.0.113.5"])
        #expect(all.map { $0["agent"] as? String } == [nil, "Firefox"])
    }

    @Test("that have ended in any way are not listed", arguments: Backend.allCases)
    func over(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        let revoked = try await server.logIn(device)
        _ = try await server.send(
            "POST", "/v1/token/revoke", ["token": try revoked.token("refreshToken")])
        #expect(try await reader.sessions().isEmpty)
        _ = try await server.logIn(device)
        #expect(try await reader.sessions().count == 1)
        // A stricter policy ends it earlier than it was begun for.
        try await server.administer("application", "set", "shop", "--refresh-seconds", "600")
        server.time.pass(599)
        #expect(try await reader.sessions().count == 1)
        server.time.pass(1)
        #expect(try await reader.sessions().isEmpty)
    }

    @Test("beyond fifty are counted, the newest are listed", arguments: Backend.allCases)
    func many(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        for _ in 0..<52 {
            #expect(try await server.logIn(device).status == 200)
            server.time.pass(1)
        }
        let reply = try await reader.list()
        let all = try #require(reply["sessions"] as? [[String: Any]])
        #expect(all.count == 50 && reply["total"] as? Int == 52)
        let times = all.compactMap { $0["created"] as? Int }
        #expect(times == times.sorted(by: >))
        #expect(try await reader.endAll()["ended"] as? Int == 52)
    }

    @Test("are ended one at a time: its tokens are refused at once", arguments: Backend.allCases)
    func ended(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        let other = try TestDevice(id: 2)
        try await server.register(other)
        let (lost, kept) = (try await server.logIn(other), try await server.logIn(device))
        let all = try await reader.sessions()
        let id = try #require(all.first { $0["own"] as? Bool == false }?["session"] as? String)
        let reply = try await reader.end(id)
        #expect(reply.status == 200 && reply["ended"] as? Int == 1)
        #expect(try await !isActive(server, try lost.token("accessToken")))
        let refused = try await refresh(server, try lost.token("refreshToken"))
        #expect(refused.code == "token-refused")
        #expect(try await isActive(server, try kept.token("accessToken")))
        #expect(try await refresh(server, try kept.token("refreshToken")).status == 200)
        // The device itself can log in again.
        #expect(try await server.logIn(other).status == 200)
        let rows = try await server.rows(
            """
            SELECT registration, detail, address FROM audit
            WHERE event = 'revocation' AND outcome = 'ok'
            """)
        #expect(rows.count == 1)
        for row in rows {
            #expect(try row.text(0) == device.registration && row.text(2) == "192.0.2.9")
            #expect(try row.text(1).contains("session \(id) of registration \(other.registration)"))
        }
    }

    @Test("are refused if they have ended, or never were", arguments: Backend.allCases)
    func twice(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        _ = try await server.logIn(device)
        let id = try #require(try await reader.sessions()[0]["session"] as? String)
        #expect(try await reader.end(id).status == 200)
        let again = try await reader.end(id)
        #expect(again.status == 409 && again.code == "conflict")
        for unknown in [String(repeating: "0", count: 32), "x", id.uppercased(), id + "00"] {
            let reply = try await reader.end(unknown)
            #expect(reply.status == 404 && reply.code == "not-found", "\(unknown)")
        }
        _ = try await server.logIn(device)
        let expired = try #require(try await reader.sessions()[0]["session"] as? String)
        try await server.administer("application", "set", "shop", "--refresh-seconds", "600")
        server.time.pass(600)
        #expect(try await reader.end(expired).code == "conflict")
    }

    @Test("of another account or application are not to be found", arguments: Backend.allCases)
    func foreign(backend: Backend) async throws {
        let (server, _, reader) = try await registered(backend)
        let bob = try TestDevice(id: 3)
        bob.account = "bob"
        try await server.register(bob)
        let login = try await server.logIn(bob)
        let bobs = try await Reader(server, bob)
        let id = try #require(try await bobs.sessions()[0]["session"] as? String)
        #expect(try await reader.sessions().isEmpty)
        let reply = try await reader.end(id)
        #expect(reply.status == 404 && reply.code == "not-found")
        #expect(try await reader.endAll()["ended"] as? Int == 0)
        #expect(try await isActive(server, try login.token("accessToken")))
        #expect(try await bobs.sessions().count == 1)
    }

    @Test("are all ended, and a login afterwards begins a new one", arguments: Backend.allCases)
    func all(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        var logins: [Reply] = []
        for _ in 0..<3 { logins.append(try await server.logIn(device)) }
        #expect(try await reader.endAll()["ended"] as? Int == 3)
        #expect(try await reader.sessions().isEmpty)
        for login in logins {
            #expect(try await refresh(server, try login.token("refreshToken")).status == 401)
        }
        #expect(try await reader.endAll()["ended"] as? Int == 0)
        #expect(try await server.logIn(device).status == 200)
        #expect(try await reader.sessions().count == 1)
    }

    @Test("need the device's own header, for exactly this call, once", arguments: Backend.allCases)
    func headers(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        _ = try await server.logIn(device)
        let path = "/v1/device/sessions"
        let id = try #require(try await reader.sessions()[0]["session"] as? String)
        for (method, path) in [
            ("GET", path), ("POST", "\(path)/revoke"), ("POST", "\(path)/\(id)/revoke"),
        ] {
            let body: [String: Any]? = method == "GET" ? nil : [:]
            #expect(try await server.send(method, path, body).status == 401)
            #expect(try await server.ask(method, path, body).status == 401)
        }
        // A header for the list ends nothing, nor does one for another session.
        let other = "\(path)/\(String(repeating: "1", count: 32))/revoke"
        #expect(
            try await reader.ask("POST", other, altered: "\(path)/\(id)/revoke").code == "refused")
        let request = TestRequest(method: "GET", resource: path, body: [])
        let header = try reader.token.header(of: request, at: server.time.now)
        let headers = [(name: "authorization", value: header)]
        #expect(try await server.send("GET", path, headers: headers).status == 200)
        #expect(try await server.send("GET", path, headers: headers).code == "replayed")
        #expect(try await reader.sessions().count == 1)
        // A request that was signed after a touch does as well.
        let signed = try device.header(try device.statement(of: request, at: server.time.now))
        let reply = try await server.send(
            "GET", path, headers: [(name: "authorization", value: signed)])
        #expect(reply.status == 200 && reply["total"] as? Int == 1)
    }

    @Test(
        "are neither listed nor ended by a device or token that is blocked, removed or revoked",
        arguments: Backend.allCases)
    func refused(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        let other = try TestDevice(id: 2)
        try await server.register(other)
        let login = try await server.logIn(other)
        func expectRefused(_ code: String) async throws {
            #expect(try await reader.list().code == code)
            #expect(try await reader.endAll().code == code)
            #expect(try await isActive(server, try login.token("accessToken")))
        }
        let path = "/v1/registrations/\(device.registration)"
        #expect(try await server.ask("POST", "\(path)/block", [:]).status == 200)
        try await expectRefused("key-blocked")
        #expect(try await server.ask("POST", "\(path)/unblock", [:]).status == 200)
        #expect(try await reader.list().status == 200)
        let token = reader.token.id.text
        #expect(try await server.ask("POST", "/v1/mac-tokens/\(token)/revoke", [:]).status == 204)
        try await expectRefused("token-refused")
        let again = try await Reader(server, device)
        #expect(try await again.list().status == 200)
        #expect(try await server.ask("POST", "\(path)/remove", [:]).status == 200)
        #expect(try await again.list().status == 401)
        #expect(try await again.endAll().status == 401)
        #expect(try await isActive(server, try login.token("accessToken")))
    }

    @Test("of a blocked account are not shown or ended by its devices", arguments: Backend.allCases)
    func blocked(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        _ = try await server.logIn(device)
        try await server.administer("account", "block", "shop", "alice")
        #expect(try await reader.list().code == "key-blocked")
        #expect(try await reader.endAll().code == "key-blocked")
    }

    @Test(
        "can be ended under a policy that the device no longer meets", arguments: Backend.allCases)
    func stricter(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        _ = try await server.logIn(device)
        try await server.change("UPDATE application SET minimum_key = 'attested'")
        #expect(try await reader.list().code == "policy")
        #expect(try await reader.endAll()["ended"] as? Int == 1)
    }

    @Test(
        "take a body without members, and nothing else", arguments: ["[]", "{", #"{"a":1}"#, "1"])
    func bodies(body: String) async throws {
        let (server, device, reader) = try await registered(.sqlite)
        _ = try await server.logIn(device)
        let path = "/v1/device/sessions/revoke"
        let request = TestRequest(method: "POST", resource: path, body: [UInt8](body.utf8))
        let header = try reader.token.header(of: request, at: server.time.now)
        let reply = await server.answer(
            .init(
                method: "POST", path: path,
                headers: [
                    (name: "authorization", value: header),
                    (name: "content-type", value: "application/json"),
                ], body: [UInt8](body.utf8), peer: "192.0.2.1"))
        #expect(reply.code == "malformed")
        #expect(try await reader.sessions().count == 1)
    }

    @Test("are ended once, by many who ask at the same time", arguments: Backend.allCases)
    func race(backend: Backend) async throws {
        let (server, device, reader) = try await registered(backend)
        _ = try await server.logIn(device)
        let id = try #require(try await reader.sessions()[0]["session"] as? String)
        let won = try await server.race(40) { _ in try await reader.end(id).status == 200 }
        #expect(won == 1)
    }
}
