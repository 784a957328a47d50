// SPDX-License-Identifier: Apache-2.0
import Domain
import HTTPServer
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A MAC token that its own device ends")
struct MACTokenEndTests {
    private static let body = [UInt8]("{}".utf8)

    /// The call that ends a token.
    private func request(_ id: MACTokenID) -> TestRequest {
        TestRequest(
            resource: "/v1/device/mac-tokens/\(hexadecimal(id))/revoke", body: Self.body)
    }

    private func end(
        _ id: MACTokenID, on server: TestServer, _ authorization: String? = nil
    ) async -> Reply {
        var headers = [(name: "content-type", value: "application/json")]
        if let authorization { headers.append((name: "authorization", value: authorization)) }
        let path = request(id).resource
        return await server.answer(
            HTTPRequest(
                method: "POST", target: path, path: path, headers: headers, body: Self.body,
                peer: "192.0.2.1"))
    }

    private func header(
        _ token: TestMACToken, ending id: MACTokenID? = nil, on server: TestServer
    ) throws -> String {
        try token.header(of: request(id ?? token.id), at: server.time.now)
    }

    @Test("is ended by that device whatever the policy has become", arguments: Backend.allCases)
    func strictPolicy(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        device.integrity = Integrity(key: .file, secureBoot: .off)
        try await server.register(device)
        let token = try await server.macToken(device)
        try await server.administer("application", "set", "shop", "--keys", "tpm")
        #expect(try await code(token, on: server) == "policy")
        #expect(await end(token.id, on: server, try header(token, on: server)).status == 204)
        try await server.administer("application", "set", "shop", "--keys", "any")
        #expect(try await code(token, on: server) == "token-refused")
    }

    /// The code that a request with a token is refused with; nil if it is taken.
    private func code(_ token: TestMACToken, on server: TestServer) async throws -> String? {
        try await server.refusal(of: token.header(at: server.time.now))
    }

    @Test("is taken no more, and cannot be ended twice", arguments: Backend.allCases)
    func ended(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        let other = try await server.macToken(device, name: "other")
        let first = try header(token, on: server)
        #expect(await end(token.id, on: server, first).status == 204)
        #expect(await end(token.id, on: server, first).code == "replayed")
        let again = await end(token.id, on: server, try header(token, on: server))
        #expect(again.status == 401 && again.code == "token-refused")
        #expect(try await code(token, on: server) == "token-refused")
        #expect(try await code(other, on: server) == nil)
        let trail = try await server.rows(
            "SELECT detail FROM audit WHERE event = 'revocation' AND outcome = 'ok'")
        #expect(try trail.map { row in try row.text(0) } == ["MAC token 'sync', by the device"])
        // A touch ends any of the registration's, once.
        let statement = try device.statement(of: request(other.id), at: server.time.now)
        #expect(await end(other.id, on: server, try device.header(statement)).status == 204)
        #expect(try await code(other, on: server) == "token-refused")
        let second = try device.statement(of: request(other.id), at: server.time.now)
        #expect(await end(other.id, on: server, try device.header(second)).code == "conflict")
    }

    @Test("is ended by one of many at once", arguments: Backend.allCases)
    func raced(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        let ended = try await server.race { server in
            await end(token.id, on: server, try header(token, on: server)).status == 204
        }
        #expect(ended == 1)
    }

    @Test("is not another's to end", arguments: Backend.allCases)
    func foreign(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        let beside = try await server.macToken(device, name: "other")
        let bob = try TestDevice(id: 0xd2)
        bob.account = "bob"
        try await server.register(bob)
        let bobs = try await server.macToken(bob)
        // Another token, of this device or of another.
        for thief in [beside, bobs] {
            let header = try header(thief, ending: token.id, on: server)
            let reply = await end(token.id, on: server, header)
            #expect(reply.status == 404 && reply.code == "not-found")
        }
        // Another's touch, and the application's key, which has a call of its own.
        let statement = try bob.statement(of: request(token.id), at: server.time.now)
        #expect(await end(token.id, on: server, try bob.header(statement)).code == "not-found")
        #expect(await end(token.id, on: server, "Bearer \(server.apiKey)").status == 401)
        #expect(await end(token.id, on: server).status == 401)
        // None that there is.
        let unknown = MACTokenID.sample(repeating: 7)
        let touch = try device.statement(of: request(unknown), at: server.time.now)
        #expect(await end(unknown, on: server, try device.header(touch)).code == "not-found")
        #expect(try await code(token, on: server) == nil)
    }

    @Test("is not ended by a code that does not hold", arguments: Backend.allCases)
    func refused(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        var forged = token
        forged.secret[0] ^= 1
        var readdressed = token
        readdressed.audience += "2"
        for wrong in [forged, readdressed] {
            let reply = await end(token.id, on: server, try header(wrong, on: server))
            #expect(reply.code == "refused")
        }
        // A code for another call, and one that is too old.
        let foreign = try token.header(at: server.time.now)
        #expect(await end(token.id, on: server, foreign).code == "refused")
        let old = try token.header(of: request(token.id), at: server.time.now - 31)
        #expect(await end(token.id, on: server, old).code == "clock")
        let path = "/v1/registrations/\(device.registration)"
        _ = try await server.ask("POST", path + "/block", [:])
        let blocked = await end(token.id, on: server, try header(token, on: server))
        #expect(blocked.code == "key-blocked")
        _ = try await server.ask("POST", path + "/unblock", [:])
        #expect(try await code(token, on: server) == nil)
    }
}
