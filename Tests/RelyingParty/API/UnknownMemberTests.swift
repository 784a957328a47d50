// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import JSONFormat
import SQLSupport
import ServerAPI
import Testing

@testable import RelyingParty

@Suite("A member that a call does not know")
struct UnknownMemberTests {
    private static let id = String(repeating: "0", count: 32)

    private struct Sample: Decodable {
        struct Inner: Decodable {
            let text: String?
        }

        let text: String?
        let inner: Inner?
        let list: [Inner]?
        let values: [String: String]?
    }

    private func problem(_ text: String) -> Problem? {
        do throws(Problem) {
            _ = try JSON.body([UInt8](text.utf8)).value(Sample.self)
            return nil
        } catch { return error }
    }

    @Test(
        "is refused by its name and its place, also in nested objects",
        arguments: [
            (#"{"other":1}"#, "other"), (#"{"text":"a","Text":"b"}"#, "Text"),
            (#"{"text":1,"other":null}"#, "other"), (#"{"inner":{"other":{}}}"#, "inner.other"),
            (#"{"list":[{},{"text":"a","other":[]}]}"#, "list.other"), (#"{"":1}"#, ""),
            (#"{"te\u0078t ":1}"#, "text "), (#"{"tex\u200bt":1}"#, "tex\u{FFFD}t"),
            (#"{"a\nb\u001b":1}"#, "a\u{FFFD}b\u{FFFD}"),
            (#"{"\#(String(repeating: "n", count: 128))":1}"#, String(repeating: "n", count: 128)),
        ])
    func refused(text: String, name: String) {
        #expect(problem(text) == .malformed("'\(name)' is not a member that this call knows"))
    }

    @Test("is refused with a name of bounded length, however deep it is")
    func bounded() throws {
        let long = String(repeating: "n", count: 128)
        let title = try #require(problem(#"{"inner":{"\#(long)":1}}"#)).title
        #expect(title.utf8.count < 200)
        #expect(title.hasPrefix("'inner.nnn"))
    }

    /// As strings, the Kelvin sign equals K; for other parsers, it does not.
    @Test("is one that merely equals a known name after normalisation")
    func normalised() {
        struct Key: Decodable { let publicKey: String? }
        let fault = #expect(throws: UnknownMember.self) {
            _ = try JSON(parsing: [UInt8](#"{"public\#u{212a}ey":"a"}"#.utf8))
                .decoded(as: Key.self, refusingUnknown: true)
        }
        #expect(fault?.path == ["public\u{212a}ey"])
    }

    @Test("is ignored in what this server stored or signed itself")
    func stored() throws {
        let sample = try JSON.decode(Sample.self, from: [UInt8](#"{"later":1,"text":"a"}"#.utf8))
        #expect(sample.text == "a")
    }

    @Test("is not refused among the values of a template's placeholders")
    func values() {
        #expect(problem(#"{"values":{"any":"a","other":"b"}}"#) == nil)
        #expect(problem("{}") == nil)
    }

    @Test("is refused by every call that takes a body", arguments: Backend.allCases)
    func everyCall(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let posts = Routes.all.filter { $0.method == "POST" }
        #expect(posts.count > 15)
        let scopes = Scope.allCases.map(\.rawValue).joined(separator: ",")
        let key = try await server.administer("key", "add", "shop", "all", "--scopes", scopes)[0]
        for route in posts {
            // These need a signature before the body is read.
            if case .leavingDevice = route.caller { continue }
            let path = route.pattern.replacing("{id}", with: Self.id)
            let reply = try await server.send("POST", path, ["expires_in": 5], key: key)
            #expect(reply.status == 400 && reply.code == "malformed", "\(path)")
            #expect(
                reply["title"] as? String == "'expires_in' is not a member that this call knows",
                "\(path)")
        }
        #expect(try await server.rows("SELECT id FROM account").isEmpty)
    }

    @Test(
        "is refused beside all members of a call, and uses nothing up", arguments: Backend.allCases)
    func complete(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate("pay", "pay {amount}")
        let bodies: [(String, [String: Any])] = [
            (
                "/v1/login/challenge",
                [
                    "application": "shop", "account": "alice", "device": hexadecimal(device.id),
                    "action": "login",
                ]
            ),
            (
                "/v1/authentication/verify",
                [
                    "authorization": "Signet x", "method": "GET", "resource": "/",
                    "body": String(repeating: "A", count: 43),
                ]
            ),
            ("/v1/operations", ["account": "alice", "template": "pay", "data": ["amount": "1"]]),
            ("/v1/activations", ["account": "bob"]),
        ]
        for (path, body) in bodies {
            var more = body
            more["x"] = "y"
            let refused = try await server.ask("POST", path, more)
            #expect(refused.status == 400, "\(path)")
            #expect(refused["title"] as? String == "'x' is not a member that this call knows")
            let reply = try await server.ask("POST", path, body)
            #expect(reply.status == 200 || reply.status == 201, "\(path)")
        }
        let nested = try await server.ask(
            "POST", "/v1/operations",
            [
                "account": "alice", "template": "pay", "data": ["amount": "1"],
                "additional": ["adress": "192.0.2.7"],
            ])
        #expect(
            nested["title"] as? String
                == "'additional.adress' is not a member that this call knows")
        #expect(try await server.rows("SELECT id FROM operation").count == 1)
    }

    @Test("is refused in a login with its module, and the challenge can still be answered")
    func login() async throws {
        let server = try await TestServer.make(.sqlite)
        let reply = try await server.send(
            "POST", "/v1/login",
            [
                "statement": "AA", "signature": "AA",
                "module": ["challenge": String(repeating: "A", count: 43), "account": "a", "x": 1],
            ])
        #expect(
            reply["title"] as? String == "'module.x' is not a member that this call knows")
    }

    @Test("is refused where a device ends its token, which stays")
    func device() async throws {
        let server = try await TestServer.make(.sqlite)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        let target = "/v1/device/mac-tokens/\(hexadecimal(token.id))/revoke"
        for (body, status) in [(#"{"x":1}"#, 400), ("[]", 400), ("{}", 204)] {
            let request = TestRequest(method: "POST", resource: target, body: [UInt8](body.utf8))
            let header = try token.header(of: request, at: server.time.now)
            let reply = await server.answer(
                HTTPRequest(
                    method: "POST", path: target,
                    headers: [
                        ("authorization", header), ("content-type", "application/json"),
                    ], body: [UInt8](body.utf8), peer: "192.0.2.1"))
            #expect(reply.status == status, "\(body)")
        }
    }
}
