// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPClient
import SQLSupport
import SignedFormats
import Synchronization
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A server's process")
struct ServerLifeTests {
    @Test(
        "registers a device, lets it in, and ends when it is asked to", arguments: Backend.allCases)
    func works(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let server = try ServerProcess(home)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        #expect(try server.stop().ending == .exited(0))
        // What was registered is there with the next one.
        let next = try ServerProcess(home, apiKey: server.apiKey)
        #expect(try await next.logIn(device).status == 200)
        #expect(try next.stop().ending == .exited(0))
    }

    @Test(
        "that is asked to end under load loses nothing that it has answered",
        arguments: Backend.allCases)
    func stopped(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let server = try ServerProcess(home)
        let load = try await Load(server, devices: 6)
        let ending = try await load.run(upTo: 30) { try server.stop().ending }
        #expect(ending == .exited(0))
        let next = try ServerProcess(home, apiKey: server.apiKey)
        try await load.check(on: next, mayHoldMore: false)
        try next.stop()
    }

    @Test(
        "that is killed under load forgets nothing, and lets no challenge in twice",
        arguments: Backend.allCases)
    func killed(backend: Backend) async throws {
        let home = try ServerHome(backend)
        var server = try ServerProcess(home)
        for round in 0..<3 {
            let victim = server
            let load = try await Load(victim, devices: 6)
            try await load.run(upTo: 10 + 17 * round) { try victim.kill() }
            server = try ServerProcess(home, apiKey: server.apiKey)
            try await load.check(on: server, mayHoldMore: true)
        }
        try server.stop()
    }

    @Test(
        "shares one PostgreSQL with others: what one asks, another is answered", arguments: [2, 4])
    func several(count: Int) async throws {
        let home = try ServerHome(.postgreSQL)
        let first = try ServerProcess(home, settings: "")
        var servers = [first]
        for _ in 1..<count {
            servers.append(try ServerProcess(home, apiKey: first.apiKey))
        }
        let device = try TestDevice()
        try await first.register(device)
        for server in servers.dropFirst() {
            let challenge = try await first.challenge(device)
            let statement = device.answer(challenge, "login", at: server.time.now)
            let reply = try await server.send(
                "POST", "/v1/login", try device.signed(statement.encoded(), .login))
            #expect(reply.status == 200)
        }
        let statement = device.answer(
            try await first.challenge(device), "login", at: first.time.now)
        let body = try JSONSerialization.data(
            withJSONObject: try device.signed(statement.encoded(), .login))
        let wins = try await raced(1_000, on: servers, Login(body: body))
        #expect(wins == 1)
        for server in servers { #expect(try server.stop().ending == .exited(0)) }
    }

    /// How many of so many uses of one answer succeed, at once and on all servers.
    private func raced(
        _ count: Int, on servers: [ServerProcess], _ login: Login
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            // So many are under way together at each server.
            let width = 32
            var wins = 0
            for number in 0..<count {
                if number >= width * servers.count { wins += try await group.next() ?? 0 }
                let server = servers[number % servers.count]
                group.addTask { try await login.send(to: server) == 200 ? 1 : 0 }
            }
            for try await win in group { wins += win }
            return wins
        }
    }
}

/// A login that was signed, to be sent, and sent again.
struct Login: Sendable {
    let body: Data

    /// Gives the status.
    func send(to server: ServerProcess) async throws -> Int {
        let object = try JSONSerialization.jsonObject(with: body) as? [String: Any]
        return try await server.send("POST", "/v1/login", object).status
    }
}

/// Devices that log in one after the other, each as fast as it is answered.
final class Load: Sendable {
    private struct State {
        /// What was answered 200.
        var accepted: [Login] = []
        /// What was not answered: it may hold or not.
        var unanswered: [Login] = []
    }

    private let server: ServerProcess
    private let devices: [LoadDevice]
    private let state = Mutex(State())

    /// Registers so many devices, each of an account of its own.
    init(_ server: ServerProcess, devices count: Int) async throws {
        self.server = server
        devices = try await LoadDevice.register(count, at: server)
    }

    /// Lets all of them log in until so many succeeded, then does `end` while they go on; returns
    /// when each has met the end.
    func run<T: Sendable>(upTo count: Int, _ end: @Sendable () async throws -> T) async throws -> T
    {
        try await LoadRun().run(devices, upTo: count, { await self.logIn($0) }, end)
    }

    /// One login; false where nothing more comes of them.
    private func logIn(_ device: TestDevice) async -> Bool {
        guard let challenge = try? await server.challenge(device),
            let body = try? device.signed(
                device.answer(challenge, "login", at: server.time.now).encoded(), .login),
            let data = try? JSONSerialization.data(withJSONObject: body)
        else { return false }
        let login = Login(body: data)
        switch try? await login.send(to: server) {
        case 200:
            state.withLock { $0.accepted.append(login) }
            return true
        case nil:
            state.withLock { $0.unanswered.append(login) }
            return false
        default: return false
        }
    }

    /// Everything that was answered is in the audit trail, and used up; what was not succeeds once
    /// more at the most. With `mayHoldMore`, the end came between an answer and its being sent.
    func check(on next: ServerProcess, mayHoldMore: Bool) async throws {
        let (accepted, unanswered) = state.withLock { ($0.accepted, $0.unanswered) }
        var held = 0
        for registered in devices {
            let said = try next.home.administer(
                "audit", "--account", registered.device.account, "--event", "login", "--json")
            let lines = try JSONDecoder().decode([Line].self, from: Data(said.output.utf8))
            held += lines.filter { $0.outcome == "ok" }.count
        }
        #expect(!accepted.isEmpty)
        #expect(held >= accepted.count)
        #expect(held <= accepted.count + (mayHoldMore ? unanswered.count : 0))
        for login in accepted { #expect(try await login.send(to: next) == 401) }
        for login in unanswered {
            let statuses = [try await login.send(to: next), try await login.send(to: next)]
            #expect(statuses.filter { $0 == 200 }.count <= 1)
            #expect(statuses[1] == 401)
        }
    }

    private struct Line: Decodable {
        let outcome: String
    }
}
