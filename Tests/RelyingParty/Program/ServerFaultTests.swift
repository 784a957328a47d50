// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SQL
import SQLSupport
import ServerAPI
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A server whose database fails")
struct ServerFaultTests {
    @Test("says 'not now' while PostgreSQL is away, and continues when it is back")
    func away() async throws {
        let postgreSQL = try PostgreSQLServer()
        let home = try ServerHome(.postgreSQL(postgreSQL.connection()))
        let server = try ServerProcess(home, settings: ServerProcess.metrics)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.send("GET", "/health/ready").status == 200)
        #expect(try await faults(of: "unreachable", at: server) == 0)
        for isCrash in [false, true] {
            isCrash ? postgreSQL.crash() : postgreSQL.stop()
            let refused = try await server.send(
                "POST", "/v1/login/challenge",
                [
                    "application": "shop", "account": "alice", "device": hexadecimal(device.id),
                ])
            #expect(refused.status == 503)
            #expect(refused.code == "unavailable")
            #expect(refused.headers.contains { $0.name == "retry-after" })
            try await expectReady(server, 503)
            #expect(try await server.send("GET", "/health/live").status == 200)
            #expect(try await faults(of: "unreachable", at: server) > 0)
            #expect(try await faults(of: "full", at: server) == 0)
            try postgreSQL.start()
            try await expectReady(server, 200)
            #expect(try await server.logIn(device).status == 200)
        }
        #expect(try server.stop().ending == .exited(0))
        #expect(server.process.errors.contains("the database does not answer: "))
    }

    @Test("is not ready while PostgreSQL does not answer in time")
    func still() async throws {
        let postgreSQL = try PostgreSQLServer()
        let server = try ServerProcess(try ServerHome(.postgreSQL(postgreSQL.connection())))
        try await expectReady(server, 200)
        let locked = Task.detached {
            try postgreSQL.query(
                """
                BEGIN; LOCK TABLE heartbeat IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(60)
                """)
        }
        try await expectReady(server, 503)
        try postgreSQL.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()
            """)
        _ = await locked.result
        try await expectReady(server, 200)
        try server.stop()
    }

    /// Asks until it is so: an answer holds for a second, and an outage is remembered for a moment.
    private func expectReady(_ server: ServerProcess, _ status: Int) async throws {
        var met = 0
        for _ in 0..<200 {
            met = try await server.send("GET", "/health/ready").status
            if met == status { break }
            // Time itself is awaited: that an answer is no longer fresh.
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(met == status)
    }

    @Test("says 'not now' while the disk is full, and continues when there is space")
    func full() async throws {
        let scratch = try Scratch()
        let place = scratch.at("small")
        #expect(unsafe mkdir(place, 0o700) == 0)
        #expect(unsafe mount("small", place, "tmpfs", 0, "size=2m,mode=0700") == 0)
        defer { _ = unsafe umount2(place, Int32(MNT_DETACH)) }
        let home = try ServerHome(.sqlite(place + "/server.db"))
        let server = try ServerProcess(home, settings: ServerProcess.metrics)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        #expect(try await faults(of: "full", at: server) == 0)
        var met: Reply?
        for _ in 0..<20_000 {
            let reply = try await server.send(
                "POST", "/v1/login/challenge",
                [
                    "application": "shop", "account": String(repeating: "x", count: 120),
                    "device": hexadecimal(device.id),
                ])
            if reply.status == 201 || reply.status == 200 { continue }
            met = reply
            break
        }
        #expect(met?.status == 503)
        #expect(met?.code == "unavailable")
        #expect(try await faults(of: "full", at: server) > 0)
        #expect(try await faults(of: "unreachable", at: server) == 0)
        try await expectReady(server, 503)
        #expect(try await server.send("GET", "/health/live").status == 200)
        #expect(unsafe mount("small", place, "tmpfs", UInt(MS_REMOUNT), "size=8m") == 0)
        try await expectReady(server, 200)
        #expect(try await server.logIn(device).status == 200)
        #expect(try server.stop().ending == .exited(0))
    }

    /// What the figures say of faults of a kind.
    private func faults(of kind: String, at server: ServerProcess) async throws -> Int {
        let line = "signet_database_errors_total{kind=\"\(kind)\"} "
        let text = try await server.figures()
        let found = text.split(separator: "\n").first { $0.hasPrefix(line) }
        return try #require(found.flatMap { Int($0.dropFirst(line.count)) })
    }
}
