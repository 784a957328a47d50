// SPDX-License-Identifier: Apache-2.0
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The first start of a server")
struct FirstStartTests {
    /// Runs a server that does not start; returns what standard error says.
    private func refusal(_ home: ServerHome, _ words: String...) throws -> String {
        let outcome = try Program(
            Command([ServerProcess.program, "--config", try home.configuration()] + words)
        ).expectEnd()
        #expect(outcome.ending == .exited(1))
        #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        return outcome.errors
    }

    /// Starts a server with `--new`, until it serves.
    private func begin(_ home: ServerHome) throws {
        let program = try Program(
            Command([ServerProcess.program, "--config", try home.configuration(), "--new"]))
        try program.expectError(" on port ")
        program.signal(15)
        try program.expectEnd()
    }

    /// How messages call the database.
    private func name(of home: ServerHome) -> String {
        switch home.place {
        case .sqlite(let path): path
        case .postgreSQL: "that database.connection names"
        }
    }

    private func remove(_ home: ServerHome) throws {
        _ = try Program(Command(["rm", home.scratch.at("master-secret")])).expectEnd()
    }

    @Test("finds neither database nor master secret, and makes both", arguments: Backend.allCases)
    func neither(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let server = try ServerProcess(home)
        #expect(try await server.send("GET", "/health/ready").status == 200)
        try server.stop()
        #expect(try home.scratch.read("master-secret").count == 32)
        try ServerProcess(home, apiKey: "").stop()
    }

    @Test("may also be declared new", arguments: Backend.allCases)
    func told(backend: Backend) throws {
        let home = try ServerHome(backend)
        try begin(home)
        try ServerProcess(home).stop()
    }

    @Test(
        "is refused with an empty database beside a master secret, and creates nothing",
        arguments: Backend.allCases)
    func emptyDatabase(backend: Backend) throws {
        let home = try ServerHome(backend)
        let secret = [UInt8](repeating: 7, count: 32)
        try home.scratch.write("master-secret", secret)
        for _ in 1...2 {
            let said = try refusal(home)
            #expect(said.contains("the database (\(name(of: home))) is empty"))
            #expect(said.contains("the master secret \(home.scratch.at("master-secret")) is there"))
            #expect(said.contains("start once with --new"))
        }
        #expect(try home.scratch.read("master-secret") == secret)
        if case .sqlite(let path) = home.place {
            #expect(throws: (any Error).self) { try Layout.read(path) }
        }
        // Nor does administration begin with it.
        #expect(try home.administer("application", "list").ending == .exited(1))
        try begin(home)
        #expect(try home.scratch.read("master-secret") == secret)
        try ServerProcess(home).stop()
    }

    @Test("is refused with a database that has only its tables", arguments: Backend.allCases)
    func migrated(backend: Backend) throws {
        let home = try ServerHome(backend)
        #expect(try home.administer("migrate").ending == .exited(0))
        try home.scratch.write("master-secret", [UInt8](repeating: 7, count: 32))
        #expect(try refusal(home).contains("is empty, but the master secret"))
        let listed = try home.administer("application", "list")
        #expect(listed.ending == .exited(1))
        #expect(listed.errors.contains("is empty, but the master secret"))
        try remove(home)
        let missing = try home.administer("application", "list")
        #expect(missing.ending == .exited(1))
        #expect(missing.errors.contains("is missing: start the server first, which creates it"))
        try ServerProcess(home).stop()
    }

    @Test(
        "is refused without the master secret of a database in use, and creates none",
        arguments: Backend.allCases)
    func noSecret(backend: Backend) throws {
        let home = try ServerHome(backend)
        try ServerProcess(home).stop()
        let secret = try home.scratch.read("master-secret")
        try remove(home)
        for words in [[], ["--new"]] as [[String]] {
            let outcome = try Program(
                Command([ServerProcess.program, "--config", try home.configuration()] + words)
            ).expectEnd()
            #expect(outcome.ending == .exited(1))
            let path = home.scratch.at("master-secret")
            #expect(outcome.errors.contains("the master secret \(path) is missing"))
            #expect(outcome.errors.contains("the database (\(name(of: home))) is in use"))
            #expect(!Layout.entries(of: home.scratch.path).contains("master-secret"))
        }
        try home.scratch.write("master-secret", secret)
        try ServerProcess(home, apiKey: "").stop()
    }

    @Test("is not another start with --new", arguments: Backend.allCases)
    func again(backend: Backend) throws {
        let home = try ServerHome(backend)
        try begin(home)
        let said = try refusal(home, "--new")
        #expect(said.contains("the database (\(name(of: home))) is in use, not new"))
        #expect(said.contains("start without --new"))
        try ServerProcess(home).stop()
    }

    @Test(
        "is refused with a master secret of another length or mode, also where all is new",
        arguments: Backend.allCases)
    func wrongSecret(backend: Backend) throws {
        let home = try ServerHome(backend)
        for count in [0, 31, 33, 5_000] {
            let wrong = [UInt8](repeating: 7, count: count)
            try home.scratch.write("master-secret", wrong)
            for words in [[], ["--new"]] as [[String]] {
                let said = try words.isEmpty ? refusal(home) : refusal(home, "--new")
                #expect(said.contains(home.scratch.at("master-secret")), "\(said)")
            }
            #expect(try home.scratch.read("master-secret") == wrong)
        }
        for mode in [0o640, 0o604, 0o660] as [UInt32] {
            try home.scratch.write(
                "master-secret", [UInt8](repeating: 7, count: 32), mode: mode)
            #expect(try refusal(home, "--new").contains("unsafe mode"))
        }
        if case .sqlite(let path) = home.place {
            #expect(throws: (any Error).self) { try Layout.read(path) }
        }
    }

    @Test("does not take a database for a lost one when it cannot be reached")
    func unreachable() throws {
        let home = try ServerHome(.postgreSQL("host=/nonexistent dbname=signet"))
        try home.scratch.write("master-secret", [UInt8](repeating: 7, count: 32))
        let said = try refusal(home)
        #expect(said.contains("the database does not answer: ") && !said.contains("--new"))
    }
}
