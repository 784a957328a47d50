// SPDX-License-Identifier: Apache-2.0
import Domain
import HTTPServer
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("Operations that a device asks for")
struct DeviceOperationTests {
    /// A GET as a device sends it; by its MAC token, or with a touch.
    private func get(
        _ path: String, _ server: TestServer, _ device: TestDevice, _ token: TestMACToken?
    ) async throws -> Reply {
        let request = TestRequest(method: "GET", resource: path, body: [])
        let header: String
        if let token {
            header = try token.header(of: request, at: server.time.now)
        } else {
            header = try device.header(try device.statement(of: request, at: server.time.now))
        }
        return try await server.send("GET", path, headers: [("authorization", header)])
    }

    @Test("are those of its account, from the list to the decision", arguments: Backend.allCases)
    func decided(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let (device, stranger) = (try TestDevice(id: 0xd1), try TestDevice(id: 0xd2))
        stranger.account = "bob"
        for someone in [device, stranger] { try await server.register(someone) }
        try await server.makeTemplate()
        let id = try await server.operation()
        for token in [nil, try await server.macToken(device)] {
            let list = try await get("/v1/device/operations", server, device, token)
            let operations = list["operations"] as? [[String: Any]]
            #expect(operations?.count == 1)
            #expect(operations?.first?["operation"] as? String == id)
            #expect(operations?.first?["challenge"] == nil)
            let shown = try await get("/v1/device/operations/\(id)", server, device, token)
            #expect(shown["data"] as? String == "pay 10 EUR\nto Bob")
            #expect(shown["status"] as? String == "PENDING")
        }
        for token in [nil, try await server.macToken(stranger)] {
            let list = try await get("/v1/device/operations", server, stranger, token)
            #expect((list["operations"] as? [Any])?.isEmpty == true)
            let other = try await get("/v1/device/operations/\(id)", server, stranger, token)
            #expect(other.code == "not-found")
        }
        let shown = try await get("/v1/device/operations/\(id)", server, device, nil)
        let statement = OperationStatement(
            head: device.head, operation: try #require(OperationID(text: id)),
            challenge: try shown.binary("challenge"),
            template: [UInt8](try shown.text("template").utf8),
            data: [UInt8](try shown.text("data").utf8), decision: .approve,
            claims: device.claims(at: server.time.now))
        let reply = try await server.decide(id, device.signed(statement.encoded(), .operation))
        #expect(reply["status"] as? String == "APPROVED")
    }
}
