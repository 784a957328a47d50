// SPDX-License-Identifier: Apache-2.0
import Domain
import Foundation
import HTTPClient
import SQLSupport
import ServerAPI
import SignedFormats
import Synchronization
import TestSupport
import Testing

@testable import RelyingParty

@Suite("Operations of a server that is killed")
struct OperationLifeTests {
    @Test(
        "stay approved if that was answered, and are confirmed at most once",
        arguments: Backend.allCases)
    func killed(backend: Backend) async throws {
        let home = try ServerHome(backend)
        var server = try ServerProcess(home)
        let made = try home.administer(
            "template", "add", "shop", "login", "sign in from {place}", "--purpose", "login")
        try #require(made.succeeded, "\(made.errors)")
        for round in 0..<3 {
            let victim = server
            let load = try await OperationLoad(victim, devices: 6)
            try await load.run(upTo: 10 + 13 * round) { try victim.kill() }
            server = try ServerProcess(home, apiKey: server.apiKey)
            try await load.check(on: server)
        }
        try server.stop()
    }
}

/// Devices that have logins approved, one after the other.
private final class OperationLoad: Sendable {
    /// How far a login came before the server was gone.
    private enum Progress {
        /// The approval was sent, and no answer came: it may hold or not.
        case deciding(body: Data)
        /// It is approved; its confirmation was not sent.
        case approved
        /// Its confirmation was sent, and no answer came.
        case confirming
        /// It gave tokens.
        case confirmed
    }

    /// A login that was begun.
    private struct Begun {
        let operation: String
        let session: String
        var progress: Progress
    }

    private let server: ServerProcess
    private let devices: [LoadDevice]
    private let logins = Mutex<[Begun]>([])
    private let turns = Mutex(0)
    private let start = ContinuousClock.now

    init(_ server: ServerProcess, devices count: Int) async throws {
        self.server = server
        devices = try await LoadDevice.register(count, at: server)
    }

    func run(upTo count: Int, _ end: @Sendable () async throws -> Void) async throws {
        try await LoadRun().run(
            devices, upTo: count, { (try? await self.approve($0)) ?? false }, end)
    }

    /// One login from its beginning to its tokens; every third is left unconfirmed. False, or an
    /// error, where nothing more comes of them.
    private func approve(_ device: TestDevice) async throws -> Bool {
        let begun = try await server.ask(
            "POST", "/v1/login/init",
            ["account": device.account, "template": "login", "data": ["place": "Berlin"]])
        guard begun.status == 201 else { return false }
        var login = Begun(
            operation: try begun.text("operation"), session: try begun.text("session"),
            progress: .approved)
        let body = try await decision(login.operation, device)
        login.progress = .deciding(body: body)
        let decided = try? await decide(login.operation, body, at: server)
        if decided == 200 { login.progress = .approved }
        let isConfirmed = turns.withLock { turns in
            turns += 1
            return turns % 3 != 0
        }
        guard decided == 200, isConfirmed else {
            logins.withLock { $0.append(login) }
            return decided == 200
        }
        let confirmed = try? await confirm(login, at: server)
        login.progress = confirmed == 200 ? .confirmed : .confirming
        logins.withLock { [login] in $0.append(login) }
        return confirmed == 200
    }

    /// A device's signed approval of what it is shown.
    private func decision(_ operation: String, _ device: TestDevice) async throws -> Data {
        let path = "/v1/device/operations/\(operation)"
        let request = TestRequest(method: "GET", resource: path, body: [])
        let header = try device.header(try device.statement(of: request, at: server.time.now))
        let shown = try await server.send(
            "GET", path, nil, key: nil, headers: [("Authorization", header)], from: "")
        guard let id = OperationID(text: operation) else { throw Unexpected("no id") }
        let statement = OperationStatement(
            head: device.head, operation: id, challenge: try shown.binary("challenge"),
            template: [UInt8](try shown.text("template").utf8),
            data: [UInt8](try shown.text("data").utf8), decision: .approve,
            claims: device.claims(at: server.time.now))
        return try JSONSerialization.data(
            withJSONObject: try device.signed(statement.encoded(), .operation))
    }

    private func decide(
        _ operation: String, _ body: Data, at server: ServerProcess
    ) async throws -> Int {
        let object = try JSONSerialization.jsonObject(with: body) as? [String: Any]
        return try await server.send("POST", "/v1/operations/\(operation)/decision", object).status
    }

    private func confirm(_ login: Begun, at server: ServerProcess) async throws -> Int {
        try await server.ask(
            "POST", "/v1/login/confirm",
            ["operation": login.operation, "session": login.session]
        ).status
    }

    /// What was answered is so; what was not is so or not, and no login gives tokens twice.
    func check(on next: ServerProcess) async throws {
        let logins = logins.withLock { $0 }
        #expect(logins.contains { if case .confirmed = $0.progress { true } else { false } })
        // An approval can be confirmed for 60 seconds.
        for login in logins {
            let least = start.duration(to: .now) < .seconds(50) ? 1 : 0
            let path = "/v1/operations/\(login.operation)"
            let status = try await next.ask("GET", path, nil).text("status")
            switch login.progress {
            case .deciding(let body):
                #expect(["PENDING", "APPROVED"].contains(status))
                // Whoever was not answered may ask again: it is approved once.
                let again = try await decide(login.operation, body, at: next)
                #expect((again == 200) == (status == "PENDING"))
                try await confirmOnce(login, at: next, wins: least...1)
            case .approved:
                #expect(status == "APPROVED")
                try await confirmOnce(login, at: next, wins: least...1)
            case .confirming:
                #expect(status == "APPROVED")
                try await confirmOnce(login, at: next, wins: 0...1)
            case .confirmed:
                #expect(status == "APPROVED")
                try await confirmOnce(login, at: next, wins: 0...0)
            }
        }
    }

    private func confirmOnce(
        _ login: Begun, at next: ServerProcess, wins: ClosedRange<Int>
    ) async throws {
        var won = 0
        for _ in 0..<3 where try await confirm(login, at: next) == 200 { won += 1 }
        #expect(wins.contains(won))
    }
}
