// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import JSONFormat
import SQLSupport
import ServerAPI
import SignedFormats
import Synchronization
import TestSupport
import Testing

@testable import RelyingParty

/// Two servers on one database, each of which may be killed and started again at any time.
private final class MortalServers: Sendable {
    private let home: ServerHome
    private let apiKey: String
    private let running: Mutex<[ServerProcess]>

    init(_ backend: Backend) throws {
        home = try ServerHome(backend)
        let first = try ServerProcess(home)
        apiKey = first.apiKey
        for words in [
            ["template", "add", "shop", "payment", "pay {amount}"],
            ["template", "add", "shop", "login", "sign in", "--purpose", "login"],
        ] {
            let outcome = try Program(
                Command(
                    [ServerProcess.program, "admin", "--config", try home.configuration()] + words)
            ).expectEnd()
            guard outcome.succeeded else { throw Unexpected(outcome.errors) }
        }
        running = Mutex([first, try ServerProcess(home, apiKey: first.apiKey)])
    }

    /// One of them, whether it is alive or not.
    var any: ServerProcess { running.withLock { $0[Int.random(in: 0..<2)] } }

    /// One that answers: the other one is not killed meanwhile.
    var alive: ServerProcess {
        get throws {
            try running.withLock { running in
                try #require(running.first { $0.process.ended == nil })
            }
        }
    }

    /// Kills one in the middle of what it does, and starts another in its place.
    func replace(_ slot: Int) throws {
        try running.withLock { $0[slot] }.kill()
        let next = try ServerProcess(home, apiKey: apiKey)
        running.withLock { $0[slot] = next }
    }

    func stop() throws {
        for server in running.withLock({ $0 }) { try server.stop() }
    }
}

/// An item that may be used once, and what its users saw.
private struct Item: Sendable {
    let kind: String
    /// Uses it at a server; throws if there is no answer.
    let use: @Sendable (ServerProcess) async throws -> Reply
    /// The code of the problem, or of the answer, that says that it was used.
    let refusals: Set<String>

    /// One use of it.
    func used(at server: ServerProcess) async -> SingleUseHistory.Use {
        let began = ContinuousClock.now
        let reply = try? await use(server)
        let ended = ContinuousClock.now
        let outcome: SingleUseHistory.Outcome =
            switch reply {
            case let reply? where refusals.contains(reply.code ?? ""): .refused
            // Of a code, the answer says whether it is valid.
            case let reply? where reply["valid"] as? Bool == false: .unknown
            case let reply? where (200..<300).contains(reply.status): .granted
            default: .unknown
            }
        return SingleUseHistory.Use(began: began, ended: ended, outcome: outcome)
    }
}

@Suite("What may be used once", .timeLimit(.minutes(10)))
struct SingleUseTests {
    private static let rounds = 8
    private static let users = 8

    @Test(
        "is used once, whatever servers of one database are killed meanwhile",
        arguments: Backend.allCases)
    func killed(backend: Backend) async throws {
        let servers = try MortalServers(backend)
        var counts: [SingleUseHistory.Outcome: Int] = [:]
        for round in 0..<Self.rounds {
            let items = try await Self.items(at: servers.alive, round: round)
            var histories = [SingleUseHistory](repeating: SingleUseHistory(), count: items.count)
            try await withThrowingTaskGroup(
                of: (item: Int, use: SingleUseHistory.Use)?.self
            ) { group in
                for _ in 0..<Self.users {
                    for (number, item) in items.enumerated() {
                        group.addTask { (number, await item.used(at: servers.any)) }
                    }
                }
                group.addTask {
                    try servers.replace(round % 2)
                    return nil
                }
                for try await done in group {
                    if let done { histories[done.item].add(done.use) }
                }
            }
            for (number, item) in items.enumerated() {
                // Afterwards, with all servers there: what was used is refused.
                histories[number].add(await item.used(at: try servers.alive))
                let history = histories[number]
                #expect(history.violation == nil, "\(item.kind) in round \(round)")
                for outcome in [SingleUseHistory.Outcome.granted, .refused, .unknown] {
                    counts[outcome, default: 0] += history.count(outcome)
                }
            }
        }
        // Otherwise the histories say nothing.
        let granted = counts[.granted] ?? 0
        #expect(granted >= Self.rounds * Self.kinds / 2, "\(counts)")
        #expect((counts[.refused] ?? 0) > granted && (counts[.unknown] ?? 0) > 0, "\(counts)")
        try servers.stop()
    }

    private static let kinds = 7

    /// A challenge with the statement that answers it, an activation code, a refresh token, and
    /// `requestItems` and `operationItems`.
    private static func items(at server: ServerProcess, round: Int) async throws -> [Item] {
        let device = try TestDevice(id: UInt8(2 * round + 1))
        device.account = "user\(round)"
        try await server.register(device)
        let statement = device.answer(
            try await server.challenge(device), "login", at: server.time.now)
        let body = try SentBody(device.signed(statement.encoded(), .login))
        let other = try TestDevice(id: UInt8(2 * round + 2))
        other.account = "other\(round)"
        try await server.register(other)
        let tokens = try (await server.logIn(other))["tokens"] as? [String: Any]
        let refresh = try #require(tokens?["refreshToken"] as? String)
        let code = try await server.ask("POST", "/v1/activations", ["account": "new\(round)"])
            .text("code")
        return [
            Item(
                kind: "a challenge",
                use: { try await $0.send("POST", "/v1/login", body.members) },
                refusals: ["refused"]),
            Item(
                kind: "an activation code",
                use: {
                    let id = String(repeating: "0123456789abcdef".randomElement() ?? "0", count: 32)
                    return try await $0.send(
                        "POST", "/v1/registrations", ["code": code, "device": id])
                }, refusals: ["activation-refused"]),
            Item(
                kind: "a refresh token",
                use: {
                    try await $0.send("POST", "/v1/token/refresh", ["refreshToken": refresh])
                }, refusals: ["token-refused"]),
        ] + (try await requestItems(of: other, at: server))
            + (try await operationItems(of: other, at: server))
    }

    /// The code of a request that a touch has signed, and one with a MAC.
    private static func requestItems(
        of device: TestDevice, at server: ServerProcess
    ) async throws -> [Item] {
        let token = try await server.macToken(device)
        let now = server.time.now
        let codes = [
            ("a signed request", try device.header(device.statement(at: now))),
            ("a request with a MAC", try token.header(at: now)),
        ]
        return try codes.map { kind, header in
            let request = TestRequest()
            let body = try SentBody([
                "authorization": header, "method": request.method, "resource": request.resource,
                "body": base64(try SHA256.digest(request.body)),
            ])
            return Item(
                kind: kind,
                use: { try await $0.ask("POST", "/v1/authentication/verify", body.members) },
                refusals: ["replayed"])
        }
    }

    /// A decision on an operation, and the confirmation of a login that was approved.
    private static func operationItems(
        of device: TestDevice, at server: ServerProcess
    ) async throws -> [Item] {
        let payment = try await server.ask(
            "POST", "/v1/operations",
            ["account": device.account, "template": "payment", "data": ["amount": "1"]])
        let (path, decision) = try await decision(
            on: payment.text("operation"), by: device, at: server)
        let login = try await server.ask(
            "POST", "/v1/login/init", ["account": device.account, "template": "login"])
        let operation = try login.text("operation")
        let confirmation = try SentBody([
            "operation": operation, "session": try login.text("session"),
        ])
        let (approvalPath, approval) = try await Self.decision(
            on: operation, by: device, at: server)
        let approved = try await server.send("POST", approvalPath, approval.members)
        #expect(approved.status == 200)
        return [
            Item(
                kind: "a decision",
                use: { try await $0.send("POST", path, decision.members) },
                refusals: ["conflict"]),
            Item(
                kind: "a login that was approved",
                use: { try await $0.ask("POST", "/v1/login/confirm", confirmation.members) },
                refusals: ["conflict"]),
        ]
    }

    /// An approval by a device that has read the operation; the path and the body of the call.
    private static func decision(
        on operation: String, by device: TestDevice, at server: ServerProcess
    ) async throws -> (String, SentBody) {
        let read = TestRequest(
            method: "GET", resource: "/v1/device/operations/\(operation)", body: [])
        let now = server.time.now
        let header = try device.header(device.statement(of: read, at: now))
        let reply = try await server.send(
            "GET", read.resource, nil, key: nil, headers: [("Authorization", header)], from: "")
        let shown = try JSON.decode(OperationDetail.self, from: reply.bytes)
        let statement = device.decision(of: shown, at: now)
        let body = try SentBody(
            device.signed(statement.encoded(), .operation, by: device.signingKey))
        return ("/v1/operations/\(operation)/decision", body)
    }
}

/// The body of a call, all of whose members are texts.
private struct SentBody: Sendable {
    private let texts: [String: String]

    init(_ members: [String: Any]) throws {
        texts = try #require(members as? [String: String])
    }

    var members: [String: Any] { texts }
}
