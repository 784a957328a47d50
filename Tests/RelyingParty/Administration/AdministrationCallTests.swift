// SPDX-License-Identifier: Apache-2.0
import Crypto
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

@Suite("Administration over HTTP")
struct AdministrationCallTests {
    /// The commands that are for the command line alone.
    private static let local: Set<String> = ["audit prune", "audit export"]

    /// Calls a command as its path says it.
    private func call(
        _ server: TestServer, _ command: String, _ body: [String: Any] = [:], key: String
    ) async throws -> Reply {
        let path = command.split(separator: " ").joined(separator: "/")
        return try await server.send("POST", "/v1/admin/\(path)", body, key: key)
    }

    private func key(
        _ server: TestServer, _ scope: Scope, of application: String = "shop", name: String = "ops",
        _ more: String...
    ) async throws -> String {
        try await server.administer(
            ["key", "add", application, name, "--scopes", scope.rawValue] + more)[0]
    }

    @Test("has all commands on the database but those that are documented, with the reason")
    func table() throws {
        let remote = Set(Routes.administration.map(\.pattern))
        let all = AdminVerbs.ofDatabase.filter { !Self.local.contains($0.name) }
        #expect(
            remote == Set(all.map { "/v1/admin/" + $0.name.replacing(" ", with: "/") }))
        let document = String(
            decoding: try Layout.read("\(Layout.package)/docs/admin/SERVER-OPERATE.md"),
            as: UTF8.self)
        let names = AdminVerbs.all.filter { $0.reach == nil }.map(\.name)
        #expect(names.count == 8)
        for name in names { #expect(document.contains("`\(name)`"), "\(name)") }
    }

    @Test("does what the commands do, and answers what they print", arguments: Backend.allCases)
    func everything(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let id = device.registration
        let ops = try await key(server, .server)
        let retired = try #require(server.service.keys.verifying.first?.id)
        let calls: [(String, [String: Any], Int)] = [
            ("application add", ["name": "bank", "devices": "one", "maxFailures": 3], 200),
            ("application add", ["name": "bank"], 409),
            ("application list", [:], 200),
            ("application set", ["name": "bank", "commit": "yes", "accessSeconds": 60], 200),
            ("application set", ["name": "none", "commit": "yes"], 404),
            ("application pam-file", ["name": "bank"], 200),
            ("callback set", ["application": "bank", "url": "https://bank.example/cb"], 200),
            ("callback show", ["application": "bank"], 200),
            ("callback remove", ["application": "bank"], 200),
            (
                "key add", ["application": "bank", "name": "web", "scopes": ["verify", "logins"]],
                200
            ),
            ("key set", ["application": "bank", "name": "web", "expires": "90d"], 200),
            ("key list", ["application": "bank"], 200),
            ("key revoke", ["application": "bank", "name": "web"], 200),
            ("account list", ["application": "shop", "limit": 10], 200),
            (
                "account set",
                [
                    "application": "shop", "account": "alice", "flags": [String](),
                    "roles": ["a", "b"],
                ],
                200
            ),
            ("account block", ["application": "shop", "account": "alice"], 200),
            ("account unblock", ["application": "shop", "account": "alice"], 200),
            ("activation add", ["application": "bank", "account": "bob", "minutes": 5], 200),
            ("registration list", ["application": "shop", "account": "alice"], 200),
            ("registration show", ["id": id], 200),
            // Its key is not attested.
            ("registration attestation", ["id": id], 404),
            ("registration commit", ["id": id, "fingerprint": "SHA256:x"], 409),
            ("registration set", ["id": id, "flags": ["office"]], 200),
            ("registration block", ["id": id], 200),
            ("registration unblock", ["id": id], 200),
            ("registration remove", ["id": id], 200),
            ("template add", ["application": "bank", "name": "pay", "text": "-pay\n{a}"], 200),
            ("template list", ["application": "bank"], 200),
            ("template remove", ["application": "bank", "name": "pay"], 200),
            ("signing-key list", [:], 200),
            ("signing-key rotate", ["use": "token"], 200),
            ("signing-key retire", ["id": String(decoding: retired, as: UTF8.self)], 200),
            ("audit", ["event": "administration", "limit": 5], 200),
            ("audit application", ["application": "shop", "limit": 5], 200),
            ("audit sealed", ["after": 3, "limit": 5], 200),
            ("audit verify", [:], 200),
            ("application remove", ["name": "bank", "devices": "remove"], 200),
            ("application remove", ["name": "bank"], 404),
        ]
        #expect(
            Set(calls.map { "/v1/admin/" + $0.0.replacing(" ", with: "/") })
                == Set(Routes.administration.map(\.pattern)))
        for (command, body, status) in calls {
            let reply = try await call(server, command, body, key: ops)
            #expect(
                reply.status == status,
                "\(command): \(String(decoding: reply.bytes, as: UTF8.self))")
            if status == 200 {
                #expect(throws: Never.self) {
                    try JSONSerialization.jsonObject(with: Data(reply.bytes))
                }
            }
        }
        let account = try #require(try await server.rows("SELECT roles FROM account").first)
        #expect(try account.text(0) == "a b")
    }

    @Test("answers lists as the command prints them with --json", arguments: Backend.allCases)
    func asPrinted(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.register(try TestDevice())
        try await server.makeTemplate()
        let ops = try await key(server, .server)
        for (command, operand) in [
            ("application list", nil), ("account list", "shop"), ("registration list", "shop"),
            ("template list", "shop"), ("key list", "shop"), ("signing-key list", nil),
        ] as [(String, String?)] {
            let words = command.split(separator: " ").map(String.init)
            let printed = try await server.administer(
                words + [operand, "--json"].compactMap(\.self))
            let body = operand.map { ["application": $0] } ?? [:]
            let reply = try await call(server, command, body, key: ops)
            #expect(reply.status == 200)
            #expect(String(decoding: reply.bytes, as: UTF8.self) == printed.joined(separator: "\n"))
        }
    }

    @Test(
        "shows an application's own lines of the audit trail to its key, and no others",
        arguments: Backend.allCases)
    func ownTrail(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        _ = try await server.makeApplication("bank")
        try await server.register(try TestDevice())
        try await server.administer("callback", "set", "bank", "https://bank.example/")
        let admin = try await key(server, .admin)
        let reply = try await call(
            server, "audit application", ["application": "shop"], key: admin)
        let lines = try #require(
            try JSONSerialization.jsonObject(with: Data(reply.bytes)) as? [[String: Any]])
        #expect(lines.contains { $0["event"] as? String == "registration" })
        #expect(lines.allSatisfy { $0["application"] as? String == "shop" })
        let ofEvent = try await call(
            server, "audit application", ["application": "shop", "event": "registration"],
            key: admin)
        #expect(ofEvent.status == 200 && ofEvent.bytes.count < reply.bytes.count)
        for command in ["audit", "audit sealed", "audit verify"] {
            #expect(try await call(server, command, key: admin).code == "scope-missing")
        }
    }

    @Test(
        "lists the sealed trail in pages, verifies it, and says where it was altered",
        arguments: Backend.allCases)
    func sealedTrail(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.register(try TestDevice())
        let ops = try await key(server, .server)
        func page(_ body: [String: Any]) async throws -> [[String: Any]] {
            let reply = try await call(server, "audit sealed", body, key: ops)
            #expect(reply.status == 200)
            return try #require(
                try JSONSerialization.jsonObject(with: Data(reply.bytes)) as? [[String: Any]])
        }
        let all = try await page([:])
        #expect(all.count >= 4)
        var (paged, after) = ([[String: Any]](), 0)
        while true {
            let next = try await page(["after": after, "limit": 2])
            if next.isEmpty { break }
            #expect(next.count <= 2)
            paged += next
            after = try #require(next.last?["position"] as? Int)
        }
        #expect(paged.map { $0["hash"] as? String } == all.map { $0["hash"] as? String })
        // They are the lines of an export.
        let exported = try await server.administer("audit", "export")
        #expect(exported.count == all.count)
        #expect(zip(exported, all).allSatisfy { $0.contains($1["hash"] as? String ?? "?") })
        let report = try await call(server, "audit verify", key: ops)
        #expect(report.status == 200 && report["lines"] as? Int == all.count)
        let head = try report.text("head")
        #expect(try await call(server, "audit verify", ["head": head], key: ops).status == 200)
        let other = head.prefix { $0 != ":" } + ":" + String(repeating: "0", count: 64)
        #expect(
            try await call(server, "audit verify", ["head": other], key: ops).code == "conflict")
        #expect(try await call(server, "audit verify", ["head": "x"], key: ops).code == "malformed")
        try await server.change(
            "UPDATE audit SET detail = 'nothing' WHERE id = (SELECT MIN(id) FROM audit)")
        let damaged = try await call(server, "audit verify", key: ops)
        #expect(damaged.status == 409 && damaged.code == "conflict")
        #expect(try damaged.text("title").contains("position 1 is not the one"))
    }

    /// Whether a key is accepted.
    private func isAccepted(_ key: String, by server: TestServer) async throws -> Bool {
        let reply = try await server.send("POST", "/v1/activations", ["account": "a"], key: key)
        return reply.status == 201
    }

    @Test("makes keys that end with the key that made them", arguments: Backend.allCases)
    func delegated(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        _ = try await server.makeApplication("bank")
        func make(_ name: String, by key: String, _ more: [String: Any] = [:]) async throws
            -> String
        {
            let body: [String: Any] = ["application": "shop", "name": name]
            let reply = try await call(
                server, "key add", body.merging(more) { $1 }, key: key)
            return try reply.text("key")
        }
        let short = try await key(server, .admin, name: "short", "--expires", "1d")
        let lasting = try await key(server, .server, of: "bank", name: "lasting")
        let never = try await make("never", by: short)
        let later = try await make("later", by: short, ["expires": "90d"])
        let sooner = try await make("sooner", by: short, ["expires": "1h"])
        let revoked = try await make("revoked", by: lasting)
        for key in [never, later, sooner, revoked] {
            #expect(try await isAccepted(key, by: server))
        }
        let reply = try await call(server, "key list", ["application": "shop"], key: short)
        let listed = try #require(
            try JSONSerialization.jsonObject(with: Data(reply.bytes)) as? [[String: Any]])
        func member(_ member: String, of name: String) -> Any? {
            listed.first { $0["name"] as? String == name }?[member]
        }
        let end = try #require(member("expires", of: "short") as? Int)
        #expect(member("expires", of: "never") as? Int == end)
        #expect(member("expires", of: "later") as? Int == end)
        #expect((member("expires", of: "sooner") as? Int).map { $0 < end } == true)
        #expect(member("expires", of: "revoked") == nil)
        #expect(member("madeBy", of: "never") as? String == "shop/short")
        #expect(member("madeBy", of: "revoked") as? String == "bank/lasting")
        #expect(member("madeBy", of: "short") == nil)
        server.time.pass(3_601)
        #expect(try await !isAccepted(sooner, by: server))
        #expect(try await isAccepted(never, by: server))
        // What the maker's end becomes, counts; and so does its revocation.
        try await server.administer("key", "set", "shop", "short", "--expires", "never")
        server.time.pass(86_400)
        #expect(try await isAccepted(never, by: server))
        try await server.administer("key", "revoke", "shop", "short")
        #expect(try await !isAccepted(never, by: server))
        #expect(try await !isAccepted(later, by: server))
        #expect(try await isAccepted(revoked, by: server))
        // With the whole application of the maker.
        try await server.administer("application", "remove", "bank")
        #expect(try await !isAccepted(revoked, by: server))
        let rows = try await server.administer("key", "list", "shop", "--json").joined()
        let last = try #require(
            try JSONSerialization.jsonObject(with: Data(rows.utf8)) as? [[String: Any]])
        let ended = last.first { $0["name"] as? String == "revoked" }
        #expect(ended?["revoked"] is Int && ended?["madeBy"] as? String == "(removed)")
    }

    @Test("lets no key that a key made administer, so that none is two steps away from its maker")
    func delegatedAdministration() async throws {
        let server = try await TestServer.make(.sqlite)
        let first = try await key(server, .admin, name: "first")
        let made: [String: Any] = ["application": "shop", "name": "second"]
        let second = try await call(server, "key add", made, key: first).text("key")
        let refused = try await administering(server, "second", scopes: "admin,verify")
        #expect(refused?.contains("another key made this one over HTTP") == true)
        // As an earlier version, or a hand in the database, has granted it.
        try await server.change("UPDATE api_key SET scopes = 'admin server' WHERE name = 'second'")
        let third: [String: Any] = ["application": "shop", "name": "third"]
        let reply = try await call(server, "key add", third, key: second)
        #expect(reply.status == 403, "\(reply.status)")
    }

    /// What `key set` on the command line says against these scopes; nil if it takes them.
    private func administering(
        _ server: TestServer, _ name: String, scopes: String
    ) async throws -> String? {
        do {
            try await server.administer("key", "set", "shop", name, "--scopes", scopes)
            return nil
        } catch { return "\(error)" }
    }

    @Test(
        "lets no key do more, or for longer, than the command line granted it",
        arguments: Backend.allCases)
    func largerGrant(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let admin = try await key(server, .admin)
        try await server.administer(
            "key", "add", "shop", "web", "--expires", "10d", "--scopes", "verify,logins")
        for (member, value, status) in [
            ("expires", "never", 409), ("expires", "11d", 409), ("expires", "5d", 200),
            ("expires", "6d", 409), ("scopes", ["verify", "operations"], 409),
            ("scopes", ["registrations"], 409), ("scopes", ["verify", "logins"], 200),
            ("scopes", ["verify"], 200), ("scopes", ["verify", "logins"], 409),
        ] as [(String, Any, Int)] {
            let reply = try await call(
                server, "key set", ["application": "shop", "name": "web", member: value],
                key: admin)
            #expect(reply.status == status, "\(member) \(value)")
        }
        // Nor a key that a key made: its maker may live longer than the caller.
        let made: [String: Any] = ["application": "shop", "name": "made", "scopes": ["verify"]]
        #expect(try await call(server, "key add", made, key: admin).status == 200)
        let more = made.merging(["scopes": ["verify", "logins"]]) { $1 }
        #expect(try await call(server, "key set", more, key: admin).code == "conflict")
        try await server.administer("key", "set", "shop", "web", "--expires", "90d")
        try await server.administer("key", "set", "shop", "web", "--scopes", "verify,logins")
    }

    @Test("names the key and the caller's address in the audit trail", arguments: Backend.allCases)
    func origin(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let ops = try await key(server, .admin, name: "console")
        _ = try await call(
            server, "template add", ["application": "shop", "name": "pay", "text": "x"], key: ops)
        _ = try await call(
            server, "template remove", ["application": "shop", "name": "none"], key: ops)
        let lines = try await server.rows(
            """
            SELECT detail, outcome, address, api_key FROM audit WHERE api_key = 'console'
            ORDER BY id
            """)
        let told = try lines.map { row in try (0..<4).map { try row.text($0) } }
        #expect(
            told == [
                ["template add pay", "ok", "192.0.2.1", "console"],
                ["template remove none", "not-found", "192.0.2.1", "console"],
            ])
    }

    @Test(
        "with a key of one application reaches no other, and changes nothing there",
        arguments: Backend.allCases)
    func confined(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        _ = try await server.makeApplication("bank")
        try await server.administer("callback", "set", "bank", "https://bank.example/")
        try await server.administer("template", "add", "bank", "pay", "x")
        let code = try await server.administer("activation", "add", "bank", "alice")[0]
        let device = try TestDevice()
        device.audience = "https://id.example.org/bank"
        let begun = try await server.send(
            "POST", "/v1/registrations", ["code": code, "device": hexadecimal(device.id)])
        device.registration = try begun.text("registration")
        #expect(try await server.prove(device, begun).status == 200)
        let admin = try await key(server, .admin)
        let (bank, id) = (["application": "bank"], device.registration)
        func with(_ more: [String: Any], _ first: [String: Any]) -> [String: Any] {
            first.merging(more) { one, _ in one }
        }
        let bodies: [String: [String: Any]] = [
            "application set": ["name": "bank", "commit": "yes"],
            "application pam-file": ["name": "bank"],
            "callback set": with(["url": "https://a.example/"], bank),
            "callback show": bank, "callback remove": bank, "key add": with(["name": "mine"], bank),
            "key list": bank, "key set": with(["name": "bank", "expires": "1d"], bank),
            "key revoke": with(["name": "bank"], bank), "account list": bank,
            "account set": with(["account": "alice", "roles": ["x"]], bank),
            "account block": with(["account": "alice"], bank),
            "account unblock": with(["account": "alice"], bank),
            "activation add": with(["account": "alice"], bank), "registration list": bank,
            "registration show": ["id": id], "registration attestation": ["id": id],
            "audit application": bank,
            "registration commit": ["id": id, "fingerprint": "SHA256:x"],
            "registration set": ["id": id, "flags": ["x"]], "registration block": ["id": id],
            "registration unblock": ["id": id], "registration remove": ["id": id],
            "template add": with(["name": "mine", "text": "x"], bank), "template list": bank,
            "template remove": with(["name": "pay"], bank),
        ]
        let reach = AdminVerbs.ofDatabase.filter {
            if case .application = $0.reach { true } else { false }
        }
        #expect(Set(bodies.keys) == Set(reach.map(\.name)))
        let before = try await state(server)
        for (command, body) in bodies.sorted(by: { $0.key < $1.key }) {
            let reply = try await call(server, command, body, key: admin)
            #expect(reply.status == 404 && reply.code == "not-found", "\(command)")
            // The answer is that to an application that does not exist.
            var other = body
            for name in ["application", "name"] where other[name] as? String == "bank" {
                other[name] = "none"
            }
            if other["id"] != nil { other["id"] = String(repeating: "0", count: 32) }
            let unknown = try await call(server, command, other, key: admin)
            #expect(unknown.status == 404)
        }
        #expect(try await state(server) == before)
        let noted = try await server.rows(
            "SELECT 1 FROM audit WHERE application = 'bank' AND api_key = 'ops'")
        #expect(noted.isEmpty)
        // Its own application is within reach, and a key of the whole server reaches both.
        #expect(
            try await call(server, "account list", ["application": "shop"], key: admin).status
                == 200)
        let ops = try await key(server, .server, name: "all")
        #expect(try await call(server, "registration block", ["id": id], key: ops).status == 200)
    }

    /// What another application's administrator must not change.
    private func state(_ server: TestServer) async throws -> [[String]] {
        let queries: [StaticString] = [
            """
            SELECT name || devices || CAST(commit_required AS TEXT) || CAST(max_failures AS TEXT)
            FROM application ORDER BY id
            """,
            "SELECT name || scopes || COALESCE(CAST(revoked AS TEXT), '') || COALESCE(CAST(expires AS TEXT), '') FROM api_key ORDER BY name, application",
            "SELECT name || flags || roles || CAST(blocked AS TEXT) FROM account ORDER BY id",
            "SELECT status || flags FROM registration ORDER BY created",
            "SELECT name || text FROM template ORDER BY id", "SELECT url FROM callback",
            "SELECT CAST(COUNT(*) AS TEXT) FROM activation",
        ]
        var all: [[String]] = []
        for query in queries { all.append(try await server.rows(query).map { try $0.text(0) }) }
        return all
    }

    @Test(
        "makes and changes no key for administration, whatever the caller's own scope is",
        arguments: Backend.allCases, [Scope.admin, .server])
    func keysOfAdministration(backend: Backend, scope: Scope) async throws {
        let server = try await TestServer.make(backend)
        let admin = try await key(server, scope)
        try await server.administer("key", "add", "shop", "web")
        let before = try await server.administer("key", "list", "shop")
        for scopes in [["admin"], ["server"], ["verify", "admin"], ["verify", "server"]] {
            let body: [String: Any] = ["application": "shop", "name": "new", "scopes": scopes]
            #expect(try await call(server, "key add", body, key: admin).code == "conflict")
            let change: [String: Any] = ["application": "shop", "name": "web", "scopes": scopes]
            #expect(try await call(server, "key set", change, key: admin).code == "conflict")
        }
        // Not even its own end, and not by making it less first.
        for change in [["expires": "never"], ["scopes": ["verify"]]] as [[String: Any]] {
            let body = change.merging(["application": "shop", "name": "ops"]) { one, _ in one }
            #expect(try await call(server, "key set", body, key: admin).code == "conflict")
        }
        #expect(try await server.administer("key", "list", "shop") == before)
        // What gives nobody more is permitted, to end itself among it.
        let less: [String: Any] = ["application": "shop", "name": "web", "scopes": ["verify"]]
        #expect(try await call(server, "key set", less, key: admin).status == 200)
        let own: [String: Any] = ["application": "shop", "name": "ops"]
        #expect(try await call(server, "key revoke", own, key: admin).status == 200)
        #expect(
            try await call(server, "key list", ["application": "shop"], key: admin).status == 401)
    }

    @Test("is refused by every call without a key, and with one that is revoked or has expired")
    func refusedKeys() async throws {
        let server = try await TestServer.make(.sqlite)
        let revoked = try await key(server, .server, name: "revoked")
        try await server.administer("key", "revoke", "shop", "revoked")
        let expired = try await key(server, .server, name: "expired", "--expires", "1min")
        server.time.pass(60)
        let unknown = "sgk_" + String(repeating: "A", count: 43)
        let before = try await state(server)
        for route in Routes.administration {
            for key in [nil, revoked, expired, unknown, "x"] {
                let reply = try await server.send(
                    "POST", route.pattern, ["name": "shop", "application": "shop"], key: key)
                #expect(reply.status == 401 && reply.code == "api-key-refused", "\(route.pattern)")
            }
            // There is one method, and a body that is JSON.
            #expect(
                try await server.send("GET", route.pattern, nil, key: server.apiKey).status == 405)
        }
        #expect(try await server.audited("api-key", "api-key-refused") > 0)
        #expect(try await state(server) == before)
    }

    @Test("refuses a body that its command line could not be, and names the member")
    func bodies() async throws {
        let server = try await TestServer.make(.sqlite)
        let ops = try await key(server, .server)
        let shop: [String: Any] = ["name": "shop"]
        func with(_ more: [String: Any]) -> [String: Any] { shop.merging(more) { one, _ in one } }
        let bodies: [(String, [String: Any], String)] = [
            ("application set", [:], "'name' is missing"),
            ("application set", shop, "nothing to change"),
            ("application set", with(["max-failures": 3]), "'max-failures' is not a member"),
            ("application set", with(["config": "/etc/shadow"]), "'config' is not a member"),
            ("application set", with(["json": "x"]), "'json' is not a member"),
            ("application set", with(["help": "x"]), "'help' is not a member"),
            ("application set", with(["maxFailures": "3"]), "'maxFailures' has the wrong type"),
            ("application set", with(["maxFailures": 3.5]), "'maxFailures' has the wrong type"),
            ("application set", with(["maxFailures": 101]), "--max-failures needs a number"),
            ("application set", with(["maxFailures": -1]), "--max-failures needs a number"),
            ("application set", with(["devices": "two"]), "--devices needs one of"),
            ("application set", with(["devices": true]), "'devices' has the wrong type"),
            ("application set", with(["devices": NSNull()]), "'devices' has the wrong type"),
            ("application set", ["name": "", "devices": "one"], "NAME must not be empty"),
            ("application set", ["name": 1, "devices": "one"], "'name' has the wrong type"),
            ("application set", ["name": "a\u{0}", "devices": "one"], "'name' has a NUL"),
            ("application list", ["name": "shop"], "'name' is not a member"),
            ("registration show", ["id": "x"], "'x' is not an id"),
            (
                "account set", ["application": "shop", "account": "alice", "roles": "a,b"],
                "'roles' has the wrong type"
            ),
            (
                "account set", ["application": "shop", "account": "alice", "roles": ["a,b"]],
                "'roles' has a word"
            ),
            (
                "key add", ["application": "shop", "name": "n", "scopes": ["all"]],
                "'all' is unknown"
            ),
            ("signing-key rotate", ["use": "x"], "needs one of token, verdict"),
        ]
        for (command, body, told) in bodies {
            let reply = try await call(server, command, body, key: ops)
            #expect(reply.status == 400 && reply.code == "malformed", "\(command) \(body)")
            #expect((reply["title"] as? String)?.contains(told) == true, "\(reply["title"] ?? "")")
        }
        // What looks like an option is an operand all the same.
        for name in ["--config=/etc/passwd", "--help", "--", "-h"] {
            let reply = try await call(server, "account list", ["application": name], key: ops)
            #expect(reply.status == 404, "\(name)")
        }
        for body in ["[]", "null", "\"x\"", "{\"name\":\"a\",\"name\":\"b\"}", "{"] {
            let request = HTTPRequest(
                method: "POST", path: "/v1/admin/application/pam-file",
                headers: [
                    ("content-type", "application/json"), ("authorization", "Bearer \(ops)"),
                ], body: [UInt8](body.utf8), peer: "192.0.2.1")
            #expect(await server.answer(request).code == "malformed", "\(body)")
        }
    }

    @Test("does not say why the server's own database fails")
    func databaseFault() async throws {
        let server = try await TestServer.make(.sqlite)
        let ops = try await key(server, .server)
        try await server.change("ALTER TABLE template RENAME TO elsewhere")
        let reply = try await call(server, "template list", ["application": "shop"], key: ops)
        #expect(reply.status == 503 && reply.code == "unavailable")
        #expect(!String(decoding: reply.bytes, as: UTF8.self).contains("template"))
    }
}
