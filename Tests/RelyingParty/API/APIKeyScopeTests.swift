// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import Testing

@testable import RelyingParty

@Suite("The scopes of an API key")
struct APIKeyScopeTests {
    /// What each call of an application requires; a new call belongs here.
    private static let required: [String: [Scope]] = [
        "POST /v1/activations": [.registrations],
        "POST /v1/registrations/{id}/commit": [.registrations],
        "POST /v1/registrations/{id}/block": [.registrations],
        "POST /v1/registrations/{id}/unblock": [.registrations],
        "POST /v1/registrations/{id}/remove": [.registrations],
        "GET /v1/registrations/{id}": [.registrations],
        "GET /v1/registrations/{id}/mac-tokens": [.registrations],
        "GET /v1/accounts/{name}/registrations": [.registrations],
        "GET /v1/accounts/{name}/audit": [.registrations],
        "GET /v1/accounts/{name}/operations": [.operations],
        "POST /v1/mac-tokens/{id}/revoke": [.registrations],
        "POST /v1/authentication/verify": [.verify],
        "POST /v1/token/introspect": [.verify],
        "POST /v1/operations": [.operations],
        "GET /v1/operations/{id}": [.operations, .logins],
        "POST /v1/operations/{id}/cancel": [.operations, .logins],
        "POST /v1/login/init": [.logins],
        "POST /v1/login/confirm": [.logins],
    ].merging(administration) { one, _ in one }

    /// What the calls for administration require.
    private static let administration: [String: [Scope]] = {
        let ofServer = [
            "application/add", "application/list", "application/remove", "signing-key/list",
            "signing-key/rotate", "signing-key/retire", "audit", "audit/sealed", "audit/verify",
        ]
        let ofApplication = [
            "application/set", "application/pam-file", "callback/set", "callback/show",
            "callback/remove", "key/add", "key/list", "key/set", "key/revoke", "account/list",
            "account/set", "account/block", "account/unblock", "activation/add",
            "registration/list", "registration/show", "registration/attestation",
            "registration/commit", "registration/set", "registration/block", "registration/unblock",
            "registration/remove", "template/add",
            "template/list", "template/remove", "audit/application",
        ]
        let all =
            ofServer.map { ($0, [Scope.server]) } + ofApplication.map { ($0, [.admin, .server]) }
        return Dictionary(uniqueKeysWithValues: all.map { ("POST /v1/admin/\($0)", $1) })
    }()

    private static var applicationRoutes: [Route] {
        Routes.all.filter { route in
            switch route.caller {
            case .application, .rememberedApplication: true
            case .anybody, .device, .leavingDevice: false
            }
        }
    }

    /// Sends the call, with nothing in it that would make it succeed.
    private func call(_ route: Route, on server: TestServer, key: String) async throws -> Reply {
        let path = route.pattern.replacing("{id}", with: String(repeating: "0", count: 32))
            .replacing("{name}", with: "nobody")
        return try await server.send(
            route.method, path, route.method == "POST" ? [:] : nil, key: key)
    }

    @Test("are stated by each call of applications")
    func stated() {
        #expect(Set(Self.applicationRoutes.map(\.call)) == Set(Self.required.keys))
    }

    @Test("permit the calls that require them, and no other", arguments: Backend.allCases)
    func eachScope(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        for scope in Scope.allCases {
            let key = try await server.administer(
                "key", "add", "shop", scope.rawValue, "--scopes", scope.rawValue)[0]
            for route in Self.applicationRoutes {
                let required = try #require(Self.required[route.call])
                // Twice: the second time, the key may be remembered.
                for _ in 0..<2 {
                    let reply = try await call(route, on: server, key: key)
                    if required.contains(scope) {
                        #expect(![401, 403].contains(reply.status), "\(route.call): \(scope)")
                        continue
                    }
                    let lacked = required[0].rawValue
                    #expect(reply.status == 403, "\(route.call): \(scope)")
                    #expect(reply.code == "scope-missing")
                    #expect(reply["scope"] as? String == lacked)
                    #expect(
                        reply.header("WWW-Authenticate")
                            == "Bearer error=\"insufficient_scope\", scope=\"\(lacked)\"")
                }
            }
        }
    }

    @Test(
        "are not enough for a call without its own scope, even if all others are given",
        arguments: Backend.allCases)
    func allButOne(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        for route in Self.applicationRoutes {
            let required = try #require(Self.required[route.call])
            let others = Scope.allCases.filter { !required.contains($0) }.map(\.rawValue)
            let name = route.call.filter { $0.isASCII && $0.isLetter }
            let key = try await server.administer(
                "key", "add", "shop", name, "--scopes", others.joined(separator: ","))[0]
            #expect(try await call(route, on: server, key: key).code == "scope-missing")
        }
    }

    @Test("are none if the database has unknown words", arguments: Backend.allCases)
    func unknownWords(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        for words in ["", "everything", "VERIFY", "verify,registrations", "operation", "* all"] {
            try await server.database.write { store throws(DatabaseFault) in
                _ = try store.run("UPDATE api_key SET scopes = $1", [.text(words)])
            }
            for route in Self.applicationRoutes {
                let reply = try await call(route, on: server, key: server.apiKey)
                #expect(reply.code == "scope-missing", "\(words): \(route.call)")
            }
        }
        try await server.change("UPDATE api_key SET scopes = 'unknown verify'")
        let reply = try await server.ask("POST", "/v1/token/introspect", ["token": "x"])
        #expect(reply.status == 200)
    }

    @Test(
        "for all calls of applications are what a key has by default", arguments: Backend.allCases)
    func byDefault(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let key = try await server.administer("key", "add", "shop", "second")[0]
        for route in Self.applicationRoutes
        where Self.administration[route.call] == nil {
            let status = try await call(route, on: server, key: key).status
            #expect(![401, 403].contains(status), "\(route.call)")
        }
        for route in Routes.administration {
            #expect(try await call(route, on: server, key: key).code == "scope-missing")
        }
        let lines = try await server.administer("key", "list", "shop", "--json")
        #expect(lines[0].contains(#""scopes":["verify","registrations","operations","logins"]"#))
    }

    @Test("for logins reach logins, and no other operation", arguments: Backend.allCases)
    func logins(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        try await server.makeTemplate("login", "sign in", purpose: .login)
        let key = try await server.administer("key", "add", "shop", "web", "--scopes", "logins")[0]
        let payment = try await server.operation()
        let begun = try await server.send(
            "POST", "/v1/login/init", ["account": "alice", "template": "login"], key: key)
        let login = try begun.text("operation")
        let shown = try await server.send("GET", "/v1/operations/\(login)", key: key)
        #expect(shown["status"] as? String == "PENDING")
        for (method, path) in [
            ("GET", "/v1/operations/\(payment)"), ("POST", "/v1/operations/\(payment)/cancel"),
        ] {
            let reply = try await server.send(
                method, path, method == "POST" ? [:] : nil, key: key)
            #expect(reply.code == "scope-missing")
            #expect(reply["scope"] as? String == "operations")
        }
        #expect(try await server.status(payment) == "PENDING")
        #expect(try await server.audited("operation-cancelled", "ok") == 0)
        let cancelled = try await server.send(
            "POST", "/v1/operations/\(login)/cancel", [:], key: key)
        #expect(cancelled["status"] as? String == "CANCELED")
        // The other way round, all operations can be seen.
        let other = try await server.administer(
            "key", "add", "shop", "desk", "--scopes", "operations")[0]
        for id in [payment, login] {
            #expect(try await server.send("GET", "/v1/operations/\(id)", key: other).status == 200)
        }
    }

    @Test("that are missing leave a line a minute, and a count", arguments: Backend.allCases)
    func line(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let key = try await server.administer("key", "add", "shop", "web", "--scopes", "admin")[0]
        for _ in 0..<5 {
            #expect(
                try await server.send("GET", "/v1/accounts/alice/audit", key: key).status == 403)
        }
        func lines() async throws -> [String] {
            try await server.rows(
                """
                SELECT application, api_key, outcome, detail FROM audit WHERE event = 'api-key'
                ORDER BY id
                """
            ).map { row in try (0..<4).map { try row.text($0) }.joined(separator: "|") }
        }
        let first =
            "shop|web|scope-missing|this API key lacks the scope 'registrations': "
            + "GET /v1/accounts/{name}/audit"
        #expect(try await lines() == [first])
        await server.service.maintenance.writeDown()
        #expect(try await lines().last?.hasPrefix("shop|web|scope-missing|and 4 more for ") == true)
        await server.service.maintenance.writeDown()
        #expect(try await lines().count == 2)
        server.time.pass(60)
        #expect(try await server.send("GET", "/v1/accounts/alice/audit", key: key).status == 403)
        #expect(try await lines().count == 3)
    }
}
