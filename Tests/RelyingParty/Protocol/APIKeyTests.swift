// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("An API key")
struct APIKeyTests {
    /// The calls that an application's key may be remembered for, and one that it may not.
    private func statuses(_ server: TestServer, _ key: String) async throws -> [Int] {
        [
            try await server.verify("Signet x", key: key).status,
            try await server.send("GET", "/v1/accounts/alice/audit", key: key).status,
        ]
    }

    private func lines(_ server: TestServer) async throws -> [[String]] {
        try await server.rows(
            """
            SELECT application, api_key, outcome, detail FROM audit WHERE event = 'api-key'
            ORDER BY id
            """
        ).map { row in try (0..<4).map { try row.text($0) } }
    }

    @Test("expires at the second that it was given", arguments: Backend.allCases)
    func expiry(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let key = try await server.administer("key", "add", "shop", "web", "--expires", "12h")[0]
        server.time.pass(12 * 3_600 - 1)
        #expect(try await statuses(server, key) == [200, 200])
        server.time.pass(1)
        #expect(try await statuses(server, key) == [401, 401])
        let reply = try await server.send("GET", "/v1/accounts/alice/audit", key: key)
        #expect(reply.code == "api-key-refused")
        #expect(reply["title"] as? String == "this API key has expired")
        #expect(try await lines(server).map { $0[0..<3] } == [["shop", "web", "api-key-refused"]])
        // It can be given more time, or none.
        try await server.administer("key", "set", "shop", "web", "--expires", "1h")
        #expect(try await statuses(server, key) == [200, 200])
        server.time.pass(3_600)
        #expect(try await statuses(server, key) == [401, 401])
        try await server.administer("key", "set", "shop", "web", "--expires", "never")
        server.time.pass(365 * 86_400)
        #expect(try await statuses(server, key) == [200, 200])
    }

    @Test("expires on a date, and one without an end never does", arguments: Backend.allCases)
    func dates(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let key = try await server.administer(
            "key", "add", "shop", "web", "--expires", "2027-01-20")[0]
        let end = try #require(Instant(text: [UInt8]("2027-01-20T00:00:00Z".utf8)))
        server.time.pass(Int64(end.seconds) - server.time.now - 1)
        #expect(try await statuses(server, key) == [200, 200])
        server.time.pass(1)
        #expect(try await statuses(server, key) == [401, 401])
        #expect(try await statuses(server, server.apiKey) == [200, 200])
    }

    @Test(
        "that was revoked is recorded when it is used, once a minute", arguments: Backend.allCases)
    func revoked(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let key = try await server.administer("key", "add", "shop", "web")[0]
        // From now on it is remembered.
        #expect(try await statuses(server, key) == [200, 200])
        try await server.administer("key", "revoke", "shop", "web")
        for _ in 0..<4 { #expect(try await statuses(server, key) == [401, 401]) }
        let reply = try await server.send(
            "POST", "/v1/activations", ["account": "alice"], key: key)
        #expect(reply.code == "api-key-refused")
        #expect(reply["title"] as? String == "this API key was revoked")
        #expect(reply.header("WWW-Authenticate") == "Bearer")
        let first = [
            "shop", "web", "api-key-refused",
            "this API key was revoked: POST /v1/authentication/verify",
        ]
        #expect(try await lines(server) == [first])
        await server.service.maintenance.writeDown()
        let told = try await lines(server)
        #expect(told.count == 2)
        #expect(told[1][0..<3] == first[0..<3])
        #expect(told[1][3].hasPrefix("and 8 more for 'this API key was revoked'"))
        server.time.pass(60)
        #expect(try await statuses(server, key) == [401, 401])
        #expect(try await lines(server).count == 3)
        let shown = try await server.administer("audit", "--api-key", "web", "--event", "api-key")
        #expect(shown.count == 4)
    }

    @Test("that was never issued says and leaves nothing", arguments: Backend.allCases)
    func stranger(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let unknown = String(decoding: try BearerSecret.apiKey.generate().text, as: UTF8.self)
        let before = try await server.rows("SELECT id FROM audit").count
        for key in [unknown, String(unknown.dropLast()), "sgk_", "x"] {
            let reply = try await server.send("GET", "/v1/accounts/alice/audit", key: key)
            #expect(reply.status == 401 && reply.code == "api-key-refused")
            #expect(reply["title"] as? String == "a valid API key is required")
        }
        await server.service.maintenance.writeDown()
        #expect(try await server.rows("SELECT id FROM audit").count == before)
    }

    @Test("that cannot be recorded as refused is not forgotten")
    func unwritable() async throws {
        let server = try await TestServer.make(.sqlite)
        let key = try await server.administer("key", "add", "shop", "web")[0]
        try await server.administer("key", "revoke", "shop", "web")
        try await server.change("ALTER TABLE audit RENAME TO elsewhere")
        #expect(try await server.send("GET", "/v1/accounts/a/audit", key: key).status == 503)
        await server.service.maintenance.writeDown()
        try await server.change("ALTER TABLE elsewhere RENAME TO audit")
        await server.service.maintenance.writeDown()
        #expect(try await lines(server).map { $0[3].prefix(10) } == ["and 1 more"])
    }

    @Test("is changed at all servers at once", arguments: Backend.allCases)
    func changed(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let other = try await server.neighbour()
        let key = try await server.administer("key", "add", "shop", "web", "--scopes", "verify")[0]
        for each in [server, other] { #expect(try await statuses(each, key) == [200, 403]) }
        try await server.administer("key", "set", "shop", "web", "--scopes", "registrations")
        for each in [server, other] { #expect(try await statuses(each, key) == [403, 200]) }
        try await other.administer("key", "set", "shop", "web", "--scopes", "verify,registrations")
        for each in [server, other] { #expect(try await statuses(each, key) == [200, 200]) }
        // That it may not decide, and what it lacks, is a line each.
        let lacking = Set(try await lines(server).map { $0[3] })
        #expect(
            lacking == [
                "this API key lacks the scope 'registrations': GET /v1/accounts/{name}/audit",
                "this API key lacks the scope 'verify': POST /v1/authentication/verify",
            ])
        for words in [
            ["web"], ["web", "--scopes", "all"], ["web", "--scopes", ""],
            ["web", "--scopes", "verify,verify"], ["web", "--expires", "2020-01-01"],
            ["web", "--expires", "tomorrow"],
        ] {
            #expect(await server.fault(["key", "set", "shop"] + words)?.status == 2, "\(words)")
        }
        #expect(await server.fault("key", "set", "shop", "none", "--expires", "1h")?.status == 3)
        #expect(await server.fault("key", "set", "none", "web", "--expires", "1h")?.status == 3)
        try await server.administer("key", "revoke", "shop", "web")
        #expect(await server.fault("key", "set", "shop", "web", "--expires", "1h")?.status == 3)
        #expect(
            await server.fault("key", "add", "shop", "k", "--expires", "2020-01-01")?.status == 2)
        #expect(await server.fault("key", "add", "shop", "k", "--scopes", "x")?.status == 2)
    }

    @Test("shows when it was last used, and is written once a minute", arguments: Backend.allCases)
    func lastUse(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let other = try await server.neighbour()
        func last() async throws -> [Int64?] {
            try await server.rows("SELECT last_used FROM api_key WHERE name = 'shop'").map {
                try $0.optionalInteger(0)
            }
        }
        let start = server.time.now
        #expect(try await last() == [nil])
        #expect(try await statuses(server, server.apiKey) == [200, 200])
        // Not by the call itself.
        #expect(try await last() == [nil])
        await server.service.maintenance.writeDown()
        #expect(try await last() == [start])
        server.time.pass(100)
        #expect(try await statuses(other, server.apiKey) == [200, 200])
        server.time.pass(100)
        #expect(try await statuses(server, server.apiKey) == [200, 200])
        await server.service.maintenance.writeDown()
        #expect(try await last() == [start + 200])
        // The later one of two servers stays.
        await other.service.maintenance.writeDown()
        #expect(try await last() == [start + 200])
        let json = try await server.administer("key", "list", "shop", "--json")
        #expect(json[0].contains("\"lastUsed\":\(start + 200)"))
        let table = try await server.administer("key", "list", "shop")
        #expect(table[0].split(separator: " ").map(String.init).contains("LAST-USED"))
        #expect(table[1].contains(shown(start + 200)))
        // A use that is refused is none.
        try await server.administer("key", "revoke", "shop", "shop")
        server.time.pass(100)
        #expect(try await statuses(server, server.apiKey) == [401, 401])
        await server.service.maintenance.writeDown()
        #expect(try await last() == [start + 200])
    }

    @Test("is named by each line of the calls that it makes", arguments: Backend.allCases)
    func named(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        try await server.makeTemplate("login", "sign in", purpose: .login)
        let key = try await server.administer("key", "add", "shop", "web")[0]
        let token = try await server.macToken(device)
        let start = try #require(
            try await server.rows("SELECT id FROM audit ORDER BY id DESC LIMIT 1").first
        ).integer(0)
        func ask(_ method: String, _ path: String, _ body: [String: Any]) async throws -> Reply {
            try await server.send(method, path, body, key: key)
        }
        _ = try await ask("POST", "/v1/activations", ["account": "alice"])
        let made = try await ask("POST", "/v1/operations", TestServer.payment)
        _ = try await ask("POST", "/v1/operations/\(try made.text("operation"))/cancel", [:])
        let begun = try await ask(
            "POST", "/v1/login/init", ["account": "alice", "template": "login"])
        _ = try await ask(
            "POST", "/v1/login/confirm",
            ["operation": try begun.text("operation"), "session": try begun.text("session")])
        _ = try await server.verify(
            try device.header(text: [UInt8]("x".utf8)), key: key)
        let strange = try TestDevice()
        _ = try await server.verify(
            try strange.header(try strange.statement(at: server.time.now)), key: key)
        _ = try await ask("POST", "/v1/mac-tokens/\(hexadecimal(token.id))/revoke", [:])
        for change in ["block", "unblock", "commit", "remove"] {
            _ = try await ask(
                "POST", "/v1/registrations/\(device.registration)/\(change)",
                change == "commit" ? ["fingerprint": "x"] : [:])
        }
        let rows = try await server.rows(
            "SELECT event, outcome, api_key FROM audit WHERE id > $1 ORDER BY id",
            [.integer(start)])
        #expect(rows.count >= 10)
        for row in rows { #expect(try row.text(2) == "web", "\(row)") }
        // A device has none, and an administrator has none.
        #expect(try await server.logIn(device).status == 401)
        try await server.administer("account", "block", "shop", "alice")
        let others = try await server.rows(
            "SELECT api_key FROM audit ORDER BY id DESC LIMIT 2")
        #expect(try others.map { try $0.text(0) } == ["", ""])
        let shown = try await server.administer("audit", "--api-key", "web", "--json")
        let objects = try JSONSerialization.jsonObject(with: Data(shown[0].utf8))
        let listed = try #require(objects as? [[String: Any]])
        #expect(listed.count == rows.count)
        #expect(listed.allSatisfy { $0["apiKey"] as? String == "web" })
        let told = try await ask("GET", "/v1/accounts/alice/audit", [:])
        let entries = try #require(told["entries"] as? [[String: Any]])
        #expect(entries.contains { $0["apiKey"] as? String == "web" })
        #expect(entries.contains { $0["apiKey"] == nil })
    }
}
