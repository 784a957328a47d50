// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import SQL
import SQLSupport
import ServerAPI
import Testing

@testable import RelyingParty

@Suite("A session of tokens")
struct TokenLifeTests {
    /// A pair of tokens as a client keeps it.
    struct Pair: Sendable {
        let access: String
        let refresh: String

        init(_ members: [String: Any]) throws {
            guard let access = members["accessToken"] as? String,
                let refresh = members["refreshToken"] as? String
            else { throw Unexpected("no tokens in \(members)") }
            self.access = access
            self.refresh = refresh
        }
    }

    private func logIn(_ server: TestServer, _ device: TestDevice) async throws -> Pair {
        let reply = try await server.logIn(device)
        return try Pair(try #require(reply["tokens"] as? [String: Any]))
    }

    private func refresh(_ server: TestServer, _ token: String) async throws -> Reply {
        try await server.send("POST", "/v1/token/refresh", ["refreshToken": token])
    }

    private func isActive(
        _ server: TestServer, _ token: String, key: String? = nil
    ) async throws -> Bool {
        let reply = try await server.send(
            "POST", "/v1/token/introspect", ["token": token], key: key ?? server.apiKey)
        #expect(reply.status == 200)
        return try #require(reply["active"] as? Bool)
    }

    @Test("continues with fresh pairs, up to its original end", arguments: Backend.allCases)
    func refreshed(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        var pair = try await logIn(server, device)
        let end = server.time.now + 86_400
        for _ in 0..<3 {
            server.time.pass(20_000)
            let reply = try await refresh(server, pair.refresh)
            #expect(reply.status == 200)
            let next = try Pair(reply.members)
            #expect(next.refresh != pair.refresh)
            #expect(try await isActive(server, next.access))
            pair = next
        }
        server.time.pass(end - 100 - server.time.now)
        let last = try await refresh(server, pair.refresh)
        #expect(last["expiresIn"] as? Int == 100)
        server.time.pass(100)
        #expect(try await refresh(server, Pair(last.members).refresh).code == "token-refused")
        #expect(try await !isActive(server, Pair(last.members).access))
    }

    @Test("dies when a refresh token comes again", arguments: Backend.allCases)
    func reused(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let other = try await logIn(server, device)
        let first = try await logIn(server, device)
        let second = try Pair(try await refresh(server, first.refresh).members)
        #expect(try await isActive(server, second.access))
        #expect(try await refresh(server, first.refresh).code == "token-refused")
        #expect(try await !isActive(server, second.access))
        #expect(try await !isActive(server, first.access))
        #expect(try await refresh(server, second.refresh).code == "token-refused")
        #expect(try await server.audited("refresh", "token-refused") == 2)
        let ends = try await server.rows(
            "SELECT reason FROM token_session WHERE revoked IS NOT NULL")
        #expect(try ends.map { row in try row.text(0) } == ["reuse"])
        // Another session of the same device goes on.
        #expect(try await isActive(server, other.access))
        #expect(try await refresh(server, other.refresh).status == 200)
    }

    @Test("gives one pair to many at once, and dies of the others", arguments: Backend.allCases)
    func raced(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let pair = try await logIn(server, device)
        let accepted = try await server.race { server in
            try await server.send("POST", "/v1/token/refresh", ["refreshToken": pair.refresh])
                .status == 200
        }
        #expect(accepted == 1)
        #expect(try await server.audited("refresh", "ok") == 1)
        #expect(try await !isActive(server, pair.access))
        let live = try await server.rows("SELECT id FROM token_session WHERE revoked IS NULL")
        #expect(live.isEmpty)
    }

    @Test("ends with its registration or account", arguments: Backend.allCases)
    func lostPlace(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let path = "/v1/registrations/\(device.registration)"
        let first = try await logIn(server, device)
        _ = try await server.ask("POST", path + "/block", [:])
        #expect(try await !isActive(server, first.access))
        #expect(try await refresh(server, first.refresh).code == "token-refused")
        _ = try await server.ask("POST", path + "/unblock", [:])
        #expect(try await !isActive(server, first.access))
        let second = try await logIn(server, device)
        try await server.database.write { store throws(DatabaseFault) in
            try store.run("UPDATE account SET blocked = 1")
        }
        #expect(try await !isActive(server, second.access))
        #expect(try await refresh(server, second.refresh).code == "token-refused")
        try await server.database.write { store throws(DatabaseFault) in
            try store.run("UPDATE account SET blocked = 0")
        }
        let third = try await logIn(server, device)
        _ = try await server.ask("POST", path + "/remove", [:])
        #expect(try await !isActive(server, third.access))
        #expect(try await refresh(server, third.refresh).code == "token-refused")
    }

    @Test("is ended by a holder of one of its tokens", arguments: Backend.allCases)
    func revoked(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        func revoke(_ token: String) async throws -> Int {
            try await server.send("POST", "/v1/token/revoke", ["token": token]).status
        }
        let kept = try await logIn(server, device)
        let byRefresh = try await logIn(server, device)
        let byAccess = try await logIn(server, device)
        #expect(try await revoke(byRefresh.refresh) == 200)
        #expect(try await revoke(byRefresh.refresh) == 200)
        #expect(try await revoke(byAccess.access) == 200)
        for pair in [byRefresh, byAccess] {
            #expect(try await !isActive(server, pair.access))
            #expect(try await refresh(server, pair.refresh).code == "token-refused")
        }
        let unknown = try BearerSecret.refreshToken.generate().text
        for token in [
            "", "x", String(decoding: unknown, as: UTF8.self), String(kept.access.dropLast()),
            String(kept.refresh.dropLast()), server.apiKey,
        ] {
            #expect(try await revoke(token) == 200)
        }
        #expect(try await isActive(server, kept.access))
        #expect(try await server.audited("revocation", "ok") == 2)
    }

    @Test(
        "is not written to by a caller without a token of it, and each such try counts",
        arguments: Backend.allCases)
    func revokedInVain(backend: Backend) async throws {
        let server = try await TestServer.make(backend, rate: 6)
        let device = try TestDevice()
        try await server.register(device)
        let pair = try await logIn(server, device)
        server.time.pass(60)
        func revoke(_ token: String, _ peer: String) async throws -> Reply {
            try await server.send("POST", "/v1/token/revoke", ["token": token], from: peer)
        }
        let unknown = String(
            decoding: try BearerSecret.refreshToken.generate().text, as: UTF8.self)
        // SQLite's writer counts each time that it is wanted.
        let batches = server.database.figures.batches.snapshot.counts
        for token in [
            "", String(repeating: "x", count: 10_000), unknown, String(pair.access.dropLast()),
            String(pair.refresh.dropLast()), unknown,
        ] {
            let reply = try await revoke(token, "192.0.2.7")
            #expect(reply.status == 200 && reply.members.isEmpty)
        }
        #expect(server.database.figures.batches.snapshot.counts == batches)
        #expect(try await revoke(unknown, "192.0.2.7").code == "slow-down")
        #expect(server.database.figures.batches.snapshot.counts == batches)
        #expect(try await isActive(server, pair.access))
        // A token of it ends it all the same.
        let another = try await logIn(server, device)
        #expect(try await revoke(another.access, "192.0.2.7").status == 200)
        #expect(try await !isActive(server, another.access))
        #expect(try await revoke(another.access, "192.0.2.7").code == "slow-down")
        // One that ends something costs nothing; once it is of no use, it is as any other.
        let first = try await revoke(pair.refresh, "192.0.2.8")
        #expect(first.status == 200 && first.members.isEmpty)
        #expect(try await !isActive(server, pair.access))
        for _ in 0..<6 { #expect(try await revoke(pair.access, "192.0.2.8").status == 200) }
        #expect(try await revoke(pair.access, "192.0.2.8").code == "slow-down")
        #expect(try await server.audited("revocation", "ok") == 2)
    }

    @Test(
        "is known at every server, also where its key is newer than what that has read",
        arguments: Backend.allCases)
    func newKey(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let (second, third) = (try await server.neighbour(), try await server.neighbour())
        let now = server.time.now
        let key = try server.service.keys.fresh()
        try await server.database.write { store throws(DatabaseFault) in
            try store.signingKeys.endSigningKey(.token, at: now)
            _ = try store.signingKeys.keep(key, for: .token, at: now)
        }
        try await server.service.keys.refresh(at: now)
        let pair = try await logIn(server, device)
        #expect(second.service.keys.verifying.count == 1)
        #expect(try await isActive(second, pair.access))
        let reply = try await third.send("POST", "/v1/token/revoke", ["token": pair.access])
        #expect(reply.status == 200)
        #expect(try await !isActive(server, pair.access))
        #expect(try await server.audited("revocation", "ok") == 1)
    }

    @Test("that names no key has the keys reloaded once a second at most")
    func unknownKeys() async throws {
        let server = try await TestServer.make(.sqlite)
        let device = try TestDevice()
        try await server.register(device)
        let other = try await TestServer.make(.sqlite)
        try await other.register(device)
        let pair = try await logIn(other, device)
        func transactions() -> Int { server.database.figures.waits.snapshot.counts.reduce(0, +) }
        let (before, began) = (transactions(), ContinuousClock.now)
        for _ in 0..<50 {
            let reply = try await server.send(
                "POST", "/v1/token/revoke", ["token": pair.access])
            #expect(reply.status == 200)
        }
        let seconds = Int((ContinuousClock.now - began).components.seconds)
        // Each call has a transaction of its own, at the most.
        #expect(transactions() - before <= 50 + 1 + seconds)
        #expect(try await isActive(other, pair.access))
    }

    @Test("is described as in RFC 7662, to its own application", arguments: Backend.allCases)
    func introspected(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let pair = try await logIn(server, device)
        let reply = try await server.ask("POST", "/v1/token/introspect", ["token": pair.access])
        #expect(reply["active"] as? Bool == true)
        #expect(reply["sub"] as? String == "alice")
        #expect(reply["aud"] as? String == device.audience)
        #expect(reply["iss"] as? String == "https://id.example.org")
        #expect(reply["exp"] as? Int == Int(server.time.now) + 300)
        #expect(reply["token_type"] as? String == "Bearer")
        #expect(reply["reg"] as? String == device.registration)
        let bank = try await server.makeApplication("bank")
        let others = try await server.send(
            "POST", "/v1/token/introspect", ["token": pair.access], key: bank)
        #expect(others.members.keys.sorted() == ["active"])
        #expect(try await !isActive(server, pair.access, key: bank))
        #expect(try await !isActive(server, pair.refresh))
        #expect(
            try await server.send("POST", "/v1/token/introspect", ["token": pair.access]).code
                == "api-key-refused")
        server.time.pass(299)
        #expect(try await isActive(server, pair.access))
        server.time.pass(1)
        #expect(try await !isActive(server, pair.access))
    }

    @Test("is forgotten a day after its end", arguments: Backend.allCases)
    func forgotten(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let pair = try await logIn(server, device)
        _ = try await refresh(server, pair.refresh)
        _ = try await server.macToken(device, expiresIn: 60)
        server.time.pass(2 * 86_400)
        await server.service.maintenance.forgetOld()
        #expect(try await server.rows("SELECT id FROM token_session").count == 1)
        server.time.pass(1)
        await server.service.maintenance.forgetOld()
        #expect(try await server.rows("SELECT hash FROM refresh_token").isEmpty)
        #expect(try await server.rows("SELECT id FROM token_session").isEmpty)
        #expect(try await server.rows("SELECT id FROM mac_token").isEmpty)
    }
}
