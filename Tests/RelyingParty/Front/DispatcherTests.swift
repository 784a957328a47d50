// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Synchronization
import Testing

@testable import RelyingParty

@Suite("A call to the server")
struct DispatcherTests {
    @Test("of no row in the table is refused, and the methods of a path are listed")
    func routes() async throws {
        let server = try await TestServer.make(.sqlite)
        for path in [
            "/", "/v1", "/v1/login/", "//v1/login", "/v1//login", "/V1/login", "/v1/../v1",
        ] {
            let reply = try await server.send("POST", path, [:])
            #expect([404, 400].contains(reply.status), "\(path)")
        }
        let reply = try await server.send("DELETE", "/v1/login")
        #expect(reply.code == "method-not-allowed")
        #expect(reply.headers.contains { $0 == ("Allow", "POST") })
    }

    @Test("has one path: with a slash behind it there is no such call")
    func trailingSlash() async throws {
        let server = try await TestServer.make(.sqlite)
        let id = String(repeating: "0", count: 32)
        for route in Routes.all {
            let path = route.pattern.replacing("{id}", with: id).replacing("{name}", with: "alice")
            let body: [String: Any]? = route.method == "POST" ? ["account": "alice"] : nil
            let reply = try await server.ask(route.method, path + "/", body)
            #expect(reply.code == "not-found" && reply.status == 404, "\(path)")
        }
        let path = "/v1/accounts/alice/registrations"
        #expect(try await server.ask("GET", path).status == 200)
        #expect(try await server.ask("GET", path + "/").status == 404)
    }

    @Test("that is for applications requires a valid API key")
    func keys() async throws {
        let server = try await TestServer.make(.sqlite)
        let body: [String: Any] = ["account": "alice"]
        for key in [nil, "", "sgk_", "sgk_" + String(repeating: "A", count: 43), "sgr_x"] {
            let reply = try await server.send("POST", "/v1/activations", body, key: key)
            #expect(reply.code == "api-key-refused", "\(key ?? "none")")
        }
        let twice = [
            (name: "authorization", value: "Bearer \(server.apiKey)"),
            (name: "authorization", value: "Bearer \(server.apiKey)"),
        ]
        #expect(
            try await server.send("POST", "/v1/activations", body, headers: twice).status == 401)
        #expect(try await server.ask("POST", "/v1/activations", body).status == 201)
        _ = try await server.database.write { store throws(DatabaseFault) in
            try store.run("UPDATE api_key SET revoked = 1")
        }
        #expect(try await server.ask("POST", "/v1/activations", body).status == 401)
    }

    @Test(
        "with a body that is not a JSON object of the right form is refused",
        arguments: [
            "", "{", "[]", "null", "1", "\"x\"", "{}", "{\"account\":1}", "{\"account\":null}",
            "{\"account\":\"\"}", "{\"account\":\"a\\u0000\"}", "{\"account\":\"a\\nb\"}",
            "{\"account\":\"alice\"}x", "{\"account\":{}}", "{\"account\":[\"alice\"]}",
            "{\"account\":\"alice\",\"expiresIn\":\"60\"}",
            "{\"account\":\"alice\",\"expiresIn\":1e99}",
            "{\"account\":\"alice\",\"expiresIn\":29}", "\u{FEFF}[]", "{\"account\":\"\\ud800\"}",
            "{\"account\":" + String(repeating: "[", count: 8_000),
            "{\"account\":\"" + String(repeating: "a", count: 129) + "\"}",
        ])
    func bodies(body: String) async throws {
        let server = try await TestServer.make(.sqlite)
        let reply = await server.answer(
            HTTPRequest(
                method: "POST", path: "/v1/activations",
                headers: [
                    ("content-type", "application/json"),
                    ("authorization", "Bearer \(server.apiKey)"),
                ], body: [UInt8](body.utf8), peer: "192.0.2.1"))
        #expect(reply.code == "malformed")
        #expect(reply.status == 400)
    }

    @Test("that is not said to be JSON, or is too large, is refused")
    func types() async throws {
        let server = try await TestServer.make(.sqlite)
        for type in ["text/plain", "application/jsonp", "application/x-www-form-urlencoded", ""] {
            let reply = await server.answer(
                HTTPRequest(
                    method: "POST", path: "/v1/login/challenge",
                    headers: [("content-type", type)], body: [UInt8]("{}".utf8)))
            #expect(reply.code == "not-json", "\(type)")
        }
        let large = await server.answer(
            HTTPRequest(
                method: "POST", path: "/v1/login/challenge",
                headers: [("content-type", "application/json")],
                body: [UInt8](repeating: 0x20, count: Routes.bodyLimit + 1)))
        #expect(large.code == "too-large")
    }

    @Test("is limited for each address, and admitted again with time")
    func limits() async throws {
        let server = try await TestServer.make(.sqlite, rate: 3)
        func ask(_ peer: String) async throws -> Reply {
            try await server.send(
                "POST", "/v1/login/challenge",
                [
                    "application": "shop", "account": "alice",
                    "device": String(repeating: "0", count: 32),
                ], from: peer)
        }
        for _ in 0..<3 { #expect(try await ask("192.0.2.1").status == 200) }
        let refused = try await ask("192.0.2.1")
        #expect(refused.code == "slow-down")
        #expect(refused.headers.contains { $0 == ("Retry-After", "21") })
        #expect(try await ask("192.0.2.2").status == 200)
        server.time.pass(20)
        #expect(try await ask("192.0.2.1").status == 200)
        #expect(try await ask("192.0.2.1").status == 429)
    }

    @Test("with a proof that does not hold is limited too, and one that holds costs nothing")
    func refusals() async throws {
        let server = try await TestServer.make(.sqlite, rate: 4)
        func refresh(_ peer: String) async throws -> String? {
            let token = "sgr_" + String(repeating: "A", count: 43)
            return try await server.send(
                "POST", "/v1/token/refresh", ["refreshToken": token], from: peer
            ).code
        }
        for _ in 0..<10 {
            #expect(
                try await server.send("GET", "/.well-known/jwks.json", from: "192.0.2.1").status
                    == 200)
        }
        for _ in 0..<4 { #expect(try await refresh("192.0.2.1") == "token-refused") }
        let lines = try await server.rows("SELECT id FROM audit").count
        #expect(try await refresh("192.0.2.1") == "slow-down")
        #expect(try await server.rows("SELECT id FROM audit").count == lines)
        let keys = try await server.send("GET", "/.well-known/jwks.json", from: "192.0.2.1")
        #expect(keys.status == 200)
        #expect(try await refresh("192.0.2.2") == "token-refused")
        server.time.pass(15)
        #expect(try await refresh("192.0.2.1") == "token-refused")
    }

    @Test("with an invalid proof counts against a limit, even if many come at once")
    func parallelRefusals() async throws {
        let server = try await TestServer.make(.sqlite, rate: 4)
        let token = "sgr_" + String(repeating: "A", count: 43)
        let codes = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await server.send("POST", "/v1/token/refresh", ["refreshToken": token])
                        .code
                }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(codes == ["token-refused": 4, "slow-down": 196])
        #expect(try await server.rows("SELECT id FROM audit").count == 4)
    }

    @Test("with a proof that holds, or a broken one, costs nothing")
    func rightProofs() async throws {
        let server = try await TestServer.make(.sqlite, rate: 4)
        let device = try TestDevice()
        try await server.register(device)
        server.time.pass(60)
        for _ in 0..<10 {
            server.time.pass(15)
            #expect(try await server.logIn(device).status == 200)
            #expect(try await server.send("POST", "/v1/login", ["statement": 1]).status == 400)
        }
    }

    @Test(
        "through a trusted proxy is from the last address of the last line, which is the proxy's own",
        arguments: [
            (["198.51.100.1"], "198.51.100.1"),
            (["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
            (["203.0.113.9", "198.51.100.1"], "198.51.100.1"),
            (["203.0.113.9, 192.0.2.77", "203.0.113.8,\t2001:db8::1 "], "2001:db8::1"),
            // What the proxy did not fill is no address, and not what stands before it.
            (["203.0.113.9", ""], ""), (["203.0.113.9, "], ""), ([], "192.0.2.1"),
        ] as [([String], String)])
    func forwarded(lines: [String], address: String) async throws {
        let server = try await TestServer.make(.sqlite)
        let headers = lines.map { (name: "x-forwarded-for", value: $0) }
        for (trusts, expected) in [(true, address), (false, "192.0.2.1")] {
            let seen = Mutex("none")
            let dispatcher = Dispatcher(
                service: server.service,
                limits: CallLimits(
                    NetworkRates(standard: 100), clock: server.time.clock),
                trustsProxy: trusts,
                observer: { served in seen.withLock { $0 = served.peer } })
            _ = await dispatcher.answer(
                HTTPRequest(
                    method: "GET", path: "/health/live", headers: headers, peer: "192.0.2.1"))
            #expect(seen.withLock { $0 } == expected)
        }
    }

    @Test("counts those that it answers, until each is answered")
    func counted() async throws {
        let server = try await TestServer.make(.sqlite)
        let callers = server.service.database.figures.callers
        let seen = Mutex<[Int]>([])
        let dispatcher = Dispatcher(
            service: server.service,
            limits: CallLimits(NetworkRates(standard: 100), clock: server.time.clock),
            trustsProxy: false, observer: { _ in seen.withLock { $0.append(callers.count) } })
        for path in ["/health/ready", "/nowhere"] {
            _ = await dispatcher.answer(HTTPRequest(method: "GET", path: path, peer: "192.0.2.1"))
        }
        #expect(seen.withLock { $0 } == [1, 1])
        #expect(callers.count == 0)
    }

    @Test("with a decision that was made before is limited, and a first one costs nothing")
    func repeated() async throws {
        let server = try await TestServer.make(.sqlite, rate: 4)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        server.time.pass(60)
        let operation = try await server.operation()
        let shown = try await server.detail(operation, for: device)
        let body = try device.signed(
            device.decision(of: shown, at: server.time.now).encoded(), .operation)
        #expect(try await server.decide(operation, body).status == 200)
        var codes: [Int] = []
        for _ in 0..<5 { codes.append(try await server.decide(operation, body).status) }
        #expect(codes == [409, 409, 409, 409, 429])
    }

    @Test("signed rightly, and refused by the policy, is limited as a wrong proof is")
    func againstPolicy() async throws {
        let server = try await TestServer.make(.sqlite, rate: 4)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        let operation = try await server.operation()
        let shown = try await server.detail(operation, for: device)
        device.factor = "possession"
        let body = try device.signed(
            device.decision(of: shown, at: server.time.now).encoded(), .operation)
        let calls: [() async throws -> Reply] = [
            { try await server.decide(operation, body) },
            {
                let request = TestRequest(
                    method: "GET", resource: "/v1/device/operations", body: [])
                let statement = try device.statement(of: request, at: server.time.now)
                return try await server.send(
                    "GET", request.resource,
                    headers: [("authorization", try device.header(statement))])
            },
        ]
        for call in calls {
            server.time.pass(60)
            let before = try await server.rows("SELECT id FROM audit").count
            var codes: [String] = []
            for _ in 0..<16 { codes.append(try await call().code ?? "") }
            // Those of the network, and then those of the operation or the credential.
            let written = 4 + CallLimits.itemPerMinute
            #expect(codes.prefix(written).allSatisfy { $0 == "policy" })
            #expect(codes.dropFirst(written) == ["slow-down", "slow-down"])
            #expect(try await server.rows("SELECT id FROM audit").count == before + written)
        }
        // A back end that asks about what it got is told as often as it asks.
        for _ in 0..<6 {
            let header = try device.header(device.statement(at: server.time.now))
            #expect(try await server.refusal(of: header) == "policy")
        }
    }

    @Test("with SQL in its names does nothing but what the names say", arguments: Backend.allCases)
    func injection(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        for name in ["'; DROP TABLE account; --", "\" OR 1=1 --", "$1", "%", "alice\\' OR 'a'='a"] {
            let made = try await server.ask("POST", "/v1/activations", ["account": name])
            #expect(made.status == 201)
            #expect(made["account"] as? String == name)
        }
        #expect(try await server.rows("SELECT name FROM account").count == 5)
    }
}
