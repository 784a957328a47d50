// SPDX-License-Identifier: Apache-2.0
import Crypto
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("A signed request is refused")
struct SignedRequestRefusalTests {
    @Test("where it is of another request", arguments: Backend.allCases)
    func anotherRequest(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let header = try device.header(try device.statement(at: server.time.now))
        let others = [
            TestRequest(method: "PUT"), TestRequest(method: "post"),
            TestRequest(resource: "/v1/payments"), TestRequest(resource: "/v1/payments?to=eve"),
            TestRequest(resource: ""), TestRequest(body: []),
            TestRequest(body: [UInt8](#"{"amount":11}"#.utf8)),
        ]
        for other in others {
            #expect(try await server.refusal(of: header, other) == "refused", "\(other)")
        }
        // None of that has used the code up, or was counted.
        let reply = try await server.verify(header)
        #expect(reply["valid"] as? Bool == true)
    }

    @Test("where any of its lines is altered", arguments: Backend.allCases)
    func altered(backend: Backend) async throws {
        var policy = ApplicationPolicy()
        policy.maximumFailures = 1_000
        let server = try await TestServer.make(backend, policy: policy)
        let device = try TestDevice()
        try await server.register(device)
        let statement = try device.statement(at: server.time.now)
        let right = statement.encoded()
        let signature = try device.key.signature(of: right, in: .request).blob
        let lines = right.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        #expect(lines.count == 16)
        for index in lines.indices.dropLast() {
            for change in Change.allCases {
                var altered = lines.map { [UInt8]($0) }
                change.apply(to: &altered, at: index)
                let text = [UInt8](altered.joined(separator: [UInt8(ascii: "\n")]))
                guard text != right else { continue }
                let authorization = SignetAuthorization(statement: text, signature: signature)
                let header = String(decoding: try #require(authorization.header), as: UTF8.self)
                let code = try await server.refusal(of: header)
                #expect(code == "refused" || code == "malformed", "\(change) of line \(index)")
            }
        }
        let header = SignetAuthorization(statement: right, signature: signature).header
        let text = String(decoding: try #require(header), as: UTF8.self)
        #expect(try await server.refusal(of: text) == nil)
    }

    /// What becomes of a line.
    private enum Change: CaseIterable {
        case removed, doubled, longer, emptied, digitChanged

        func apply(to lines: inout [[UInt8]], at index: Int) {
            switch self {
            case .removed: lines.remove(at: index)
            case .doubled: lines.insert(lines[index], at: index)
            case .longer: lines[index].append(UInt8(ascii: "A"))
            case .emptied:
                lines[index] = [UInt8](lines[index].prefix { $0 != UInt8(ascii: " ") }) + [0x20]
            case .digitChanged:
                guard
                    let last = lines[index].indices.last(where: { position in
                        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(lines[index][position])
                    })
                else { return }
                lines[index][last] ^= 1
            }
        }
    }

    @Test("for another application, key or use", arguments: Backend.allCases)
    func anothers(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let other = try await server.makeApplication("bank")
        // The other application was handed a header that is meant for the shop.
        let header = try device.header(try device.statement(at: server.time.now))
        #expect(try await server.refusal(of: header, key: other) == "refused")
        // The same with the other's audience in it.
        device.audience = "https://id.example.org/bank"
        let readdressed = try device.header(try device.statement(at: server.time.now))
        #expect(try await server.refusal(of: readdressed, key: other) == "refused")
        #expect(try await server.refusal(of: readdressed) == "refused")
        device.audience = "https://id.example.org/shop"
        for namespace in SignatureNamespace.allCases where namespace != .request {
            let header = try device.header(
                try device.statement(at: server.time.now), namespace)
            #expect(try await server.refusal(of: header) == "refused", "\(namespace)")
            // Each has counted; a right one forgets it.
            let right = try device.header(try device.statement(at: server.time.now))
            #expect(try await server.refusal(of: right) == nil)
        }
        let stranger = try TestDevice()
        let unknown = try stranger.header(try stranger.statement(at: server.time.now))
        #expect(try await server.refusal(of: unknown) == "refused")
    }

    @Test("where it is a login's text", arguments: Backend.allCases)
    func anotherText(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let login = device.answer(
            try await server.challenge(device), "login", at: server.time.now)
        for namespace in [SignatureNamespace.request, .login] {
            let header = try device.header(text: login.encoded(), namespace)
            #expect(try await server.refusal(of: header) == "malformed")
        }
    }

    @Test("of another form or scheme, or too long")
    func forms() async throws {
        let server = try await TestServer.make(.sqlite)
        let device = try TestDevice()
        try await server.register(device)
        let right = try device.header(try device.statement(at: server.time.now))
        for header in [
            "", "Signet", "signet" + right.dropFirst(6), "Bearer \(server.apiKey)", "Basic YTpi",
            " " + right, "SignetX" + right.dropFirst(6),
        ] {
            #expect(try await server.refusal(of: header) == "refused", "\(header.prefix(40))")
        }
        let padding = String(repeating: "A", count: 4_096)
        for header in [
            right + " ", right + ", x=\"\"", "Signet statement=\"\"", "Signet ",
            right.replacing("statement", with: "text"), right.replacing(", ", with: ","),
            String(right.dropLast()), "Signet statement=\"\(padding)\", signature=\"AA\"",
            "SignetMAC token=\"\(padding)\"",
        ] {
            #expect(try await server.refusal(of: header) == "malformed", "\(header.prefix(40))")
        }
        #expect(try await server.refusal(of: right) == nil)
    }

    @Test("as soon as the API key is revoked", arguments: Backend.allCases)
    func revokedKey(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        func headers() throws -> [String] {
            [
                try device.header(try device.statement(at: server.time.now)),
                try token.header(at: server.time.now),
                try device.header(try device.statement(at: server.time.now), by: .generate()),
                try TestDevice().header(try TestDevice().statement(at: server.time.now)),
            ]
        }
        for header in try headers() { #expect(try await server.verify(header).status == 200) }
        try await server.database.write { store throws(DatabaseFault) in
            try store.run("UPDATE api_key SET revoked = 1")
        }
        for header in try headers() {
            #expect(try await server.verify(header).code == "api-key-refused")
        }
        try await server.database.write { store throws(DatabaseFault) in
            try store.run("UPDATE api_key SET revoked = NULL")
        }
        for header in try headers() { #expect(try await server.verify(header).status == 200) }
    }

    @Test("without an API key, or with a body that is not the call's")
    func calls() async throws {
        let server = try await TestServer.make(.sqlite)
        let path = "/v1/authentication/verify"
        let whole: [String: Any] = [
            "authorization": "Signet", "method": "GET", "resource": "/",
            "body": base64([UInt8](repeating: 0, count: 32)),
        ]
        #expect(try await server.send("POST", path, whole).code == "api-key-refused")
        for name in whole.keys {
            var body = whole
            body[name] = nil
            #expect(try await server.ask("POST", path, body).code == "malformed", "\(name)")
            body[name] = 7
            #expect(try await server.ask("POST", path, body).code == "malformed", "\(name)")
        }
        var body = whole
        for digest in ["", "AAAA", "=", String(repeating: "A", count: 44)] {
            body["body"] = digest
            #expect(try await server.ask("POST", path, body).code == "malformed", "\(digest)")
        }
        body["body"] = String(repeating: "A", count: 20_000)
        #expect(try await server.ask("POST", path, body).code == "too-large")
    }
}
