// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Foundation
import HTTPServer
import JSONFormat
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

@Suite("Where an operation was decided")
struct ApproverTests {
    private func fixture(_ backend: Backend) async throws -> (TestServer, TestDevice) {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        return (server, device)
    }

    /// Decides from an address, with a user agent.
    private func decide(
        _ server: TestServer, _ id: String, _ decision: OperationDecision = .approve,
        by device: TestDevice, agent: String = "signet-relay/1", from peer: String = "198.51.100.7",
        signedBy other: TestDevice? = nil
    ) async throws -> Reply {
        let shown = try await server.detail(id, for: device)
        let statement = device.decision(of: shown, decision, at: server.time.now)
        let body = try device.signed(
            statement.encoded(), .operation, by: other?.key ?? device.signingKey)
        return try await server.send(
            "POST", "/v1/operations/\(id)/decision", body, key: nil,
            headers: [(name: "user-agent", value: agent)], from: peer)
    }

    private func approver(_ server: TestServer, _ id: String) async throws -> [String: String]? {
        try await server.ask("GET", "/v1/operations/\(id)")["approver"] as? [String: String]
    }

    @Test(
        "is shown to its application: address and agent of the call that decided",
        arguments: Backend.allCases, [OperationDecision.approve, .reject])
    func shown(backend: Backend, decision: OperationDecision) async throws {
        let (server, device) = try await fixture(backend)
        let id = try await server.operation()
        #expect(try await approver(server, id) == nil)
        #expect(try await decide(server, id, decision, by: device).status == 200)
        let expected = ["address": "198.51.100.7", "agent": "signet-relay/1"]
        #expect(try await approver(server, id) == expected)
        let list = try await server.ask("GET", "/v1/accounts/alice/operations")
        let all = try #require(list["operations"] as? [[String: Any]])
        #expect(all.map { $0["approver"] as? [String: String] } == [expected])
    }

    @Test("is shown to no one else", arguments: Backend.allCases)
    func others(backend: Backend) async throws {
        let (server, device) = try await fixture(backend)
        let id = try await server.operation()
        let answer = try await decide(server, id, by: device)
        #expect(answer.status == 200 && answer["approver"] == nil)
        let detail = try await server.detail(id, for: device)
        let text = String(decoding: JSON.encode(detail), as: UTF8.self)
        #expect(!text.contains("198.51.100.7") && !text.contains("approver"))
        let bank = try await server.makeApplication("bank")
        let foreign = try await server.send("GET", "/v1/operations/\(id)", key: bank)
        #expect(foreign.status == 404 && foreign["approver"] == nil)
    }

    @Test("is not known where no device has decided", arguments: Backend.allCases)
    func undecided(backend: Backend) async throws {
        let (server, _) = try await fixture(backend)
        let withdrawn = try await server.operation()
        #expect(
            try await server.ask("POST", "/v1/operations/\(withdrawn)/cancel", [:]).status == 200)
        #expect(try await approver(server, withdrawn) == nil)
        let late = try await server.operation()
        server.time.pass(301)
        #expect(try await server.status(late) == "EXPIRED")
        #expect(try await approver(server, late) == nil)
    }

    @Test(
        "is that of the decision that took effect, and of no refused one",
        arguments: Backend.allCases)
    func refused(backend: Backend) async throws {
        let (server, device) = try await fixture(backend)
        let id = try await server.operation()
        let wrong = try await decide(
            server, id, by: device, from: "203.0.113.9", signedBy: try TestDevice())
        #expect(wrong.code == "refused")
        #expect(try await approver(server, id) == nil)
        #expect(try await decide(server, id, by: device).status == 200)
        let late = try await decide(server, id, .reject, by: device, from: "203.0.113.9")
        #expect(late.code == "conflict")
        #expect(try await approver(server, id)?["address"] == "198.51.100.7")
    }

    @Test("is text without control characters, and of limited length")
    func printed() async throws {
        let (server, device) = try await fixture(.sqlite)
        let id = try await server.operation()
        let agent = "a\u{1B}[2J" + String(repeating: "n", count: 500)
        #expect(try await decide(server, id, by: device, agent: agent).status == 200)
        let told = try #require(try await approver(server, id)?["agent"])
        #expect(told.hasPrefix("a\u{FFFD}[2J") && told.utf8.count <= 512)
        let bare = try await server.operation()
        #expect(try await decide(server, bare, by: device, agent: "").status == 200)
        #expect(try await approver(server, bare) == ["address": "198.51.100.7"])
    }

    @Test("is that of the second of two factors", arguments: Backend.allCases)
    func both(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        device.passwordKey = try .generate()
        try await server.makeTemplate(factors: .both)
        try await server.register(device)
        let id = try await server.operation()
        #expect(try await decide(server, id, by: device, from: "203.0.113.9").status == 200)
        #expect(try await approver(server, id) == nil)
        device.confirm(by: .password)
        #expect(try await decide(server, id, by: device).status == 200)
        #expect(try await server.status(id) == "APPROVED")
        #expect(try await approver(server, id)?["address"] == "198.51.100.7")
    }

    @Test("is deleted with the operation; the audit trail has it for as long as it is kept")
    func forgotten() async throws {
        let (server, device) = try await fixture(.sqlite)
        let id = try await server.operation()
        #expect(try await decide(server, id, by: device).status == 200)
        server.time.pass(40 * 86_400)
        await server.service.maintenance.forgetOld()
        #expect(try await server.rows("SELECT approver_address FROM operation").isEmpty)
        let kept = try await server.rows(
            "SELECT address, agent FROM audit WHERE event = 'operation-decided'")
        #expect(try kept.map { try $0.text(0) } == ["198.51.100.7"])
    }

    @Test("behind a trusted proxy, is the address that the proxy has added, and no other")
    func proxied() async throws {
        let server = try await TestServer.make(.sqlite)
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        for (trusts, address) in [(true, "198.51.100.7"), (false, "192.0.2.1")] {
            let id = try await server.operation()
            let shown = try await server.detail(id, for: device)
            server.time.pass(1)
            let statement = device.decision(of: shown, at: server.time.now)
            let body = try device.signed(statement.encoded(), .operation, by: device.signingKey)
            let dispatcher = Dispatcher(
                service: server.service,
                limits: CallLimits(NetworkRates(standard: 100), clock: server.time.clock),
                trustsProxy: trusts, observer: { _ in })
            let answer = await dispatcher.answer(
                HTTPRequest(
                    method: "POST", path: "/v1/operations/\(id)/decision",
                    headers: [
                        (name: "content-type", value: "application/json"),
                        (name: "user-agent", value: "signet-relay/1"),
                        // The first is what the client itself has claimed.
                        (name: "x-forwarded-for", value: "203.0.113.9, 198.51.100.7"),
                    ],
                    body: [UInt8](try JSONSerialization.data(withJSONObject: body)),
                    peer: "192.0.2.1"))
            #expect(answer.status == 200)
            let expected = ["address": address, "agent": "signet-relay/1"]
            #expect(try await approver(server, id) == expected)
        }
    }
}
