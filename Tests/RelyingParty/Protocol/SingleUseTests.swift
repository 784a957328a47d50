// SPDX-License-Identifier: Apache-2.0
import Foundation
import SQLSupport
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
    /// The code of the problem that says that it was used.
    let refusals: Set<String>

    /// One use of it.
    func used(at server: ServerProcess) async -> SingleUseHistory.Use {
        let began = ContinuousClock.now
        let reply = try? await use(server)
        let ended = ContinuousClock.now
        let outcome: SingleUseHistory.Outcome =
            switch reply {
            case let reply? where (200..<300).contains(reply.status): .granted
            case let reply? where refusals.contains(reply.code ?? ""): .refused
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

    private static let kinds = 3

    /// A challenge with the statement that answers it, an activation code, and a refresh token.
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
        ]
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
