// SPDX-License-Identifier: Apache-2.0
import Crypto
import HTTPServer
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("A call that a device signs")
struct DeviceCallerTests {
    private static let routes =
        Routes.all
        + ["GET", "POST"].map { method in
            Route(method, path: "/v1/device/whoami/{thing}", caller: .device) {
                _, call throws(Problem) in
                .json(["account": try call.deviceSigner().account.name])
            }
        }

    /// A call, and what its header says of it.
    private func call(
        _ server: TestServer, _ method: String, _ target: String, _ body: [UInt8] = [],
        authorization: [String]
    ) async -> Reply {
        let headers = authorization.map { (name: "authorization", value: $0) }
        let path = String(target.prefix { $0 != "?" })
        return await server.answer(
            HTTPRequest(
                method: method, target: target, path: path,
                headers: headers + [("content-type", "application/json")], body: body,
                peer: "192.0.2.1"))
    }

    @Test("is its registration's, by key or by MAC", arguments: Backend.allCases)
    func accepted(backend: Backend) async throws {
        let server = try await TestServer.make(backend, routes: Self.routes)
        let device = try TestDevice()
        try await server.register(device)
        let token = try await server.macToken(device)
        for (method, body) in [("GET", []), ("POST", [UInt8]("{}".utf8))] {
            let target = "/v1/device/whoami/x?state=PENDING&y=%20"
            let request = TestRequest(method: method, resource: target, body: body)
            let signed = try device.header(try device.statement(of: request, at: server.time.now))
            let coded = try token.header(of: request, at: server.time.now)
            for header in [signed, coded] {
                let reply = await call(server, method, target, body, authorization: [header])
                #expect(reply["account"] as? String == "alice")
                let again = await call(server, method, target, body, authorization: [header])
                #expect(again.code == "replayed")
                #expect(again.status == 401)
            }
        }
    }

    @Test("is refused where it is another call", arguments: Backend.allCases)
    func refused(backend: Backend) async throws {
        let server = try await TestServer.make(backend, routes: Self.routes)
        let device = try TestDevice()
        try await server.register(device)
        let target = "/v1/device/whoami/x?a=1"
        let body = [UInt8]("{}".utf8)
        let request = TestRequest(method: "POST", resource: target, body: body)
        let header = try device.header(try device.statement(of: request, at: server.time.now))
        for (method, target, body) in [
            ("GET", target, []), ("POST", "/v1/device/whoami/x", body),
            ("POST", "/v1/device/whoami/y?a=1", body), ("POST", "/v1/device/whoami/x?a=2", body),
            ("POST", target, [UInt8]("{ }".utf8)), ("POST", target + "&b", body),
        ] {
            let reply = await call(server, method, target, body, authorization: [header])
            #expect(reply.code == "refused", "\(method) \(target)")
        }
        for headers in [
            [], ["Bearer \(server.apiKey)"], [header, header], ["signet x"],
        ] {
            let reply = await call(server, "POST", target, body, authorization: headers)
            #expect(reply.status == 401)
            #expect(reply.headers.contains { $0 == ("WWW-Authenticate", "Signet, SignetMAC") })
        }
        let malformed = await call(
            server, "POST", target, body, authorization: [header + " "])
        #expect(malformed.code == "malformed")
        let reply = await call(server, "POST", target, body, authorization: [header])
        #expect(reply.status == 200)
    }
}
