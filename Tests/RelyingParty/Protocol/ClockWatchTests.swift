// SPDX-License-Identifier: Apache-2.0
import Posix
import SQL
import SQLSupport
import Synchronization
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A wall clock")
struct ClockWatchTests {
    /// Both clocks of a machine, each set by hand.
    private final class Machine: Sendable {
        let boot = Atomic<Int64>(20)
        let wall = Atomic<Int64>(TestTime.start)

        func pass(_ seconds: Int64) {
            boot.add(seconds, ordering: .relaxed)
            wall.add(seconds, ordering: .relaxed)
        }

        var clock: Clock {
            Clock(
                boot: { "test" }, sinceBoot: { .seconds(self.boot.load(ordering: .relaxed)) },
                wallSeconds: { self.wall.load(ordering: .relaxed) })
        }
    }

    @Test("is believed once it has kept pace with the kernel's for ten minutes")
    func steady() {
        let machine = Machine()
        var watch = ClockWatch()
        func isSteady() -> Bool { watch.isSteady(machine.clock) }
        for _ in 0..<10 {
            #expect(!isSteady())
            machine.pass(60)
        }
        #expect(isSteady())
        // Set right bit by bit.
        for _ in 0..<100 {
            machine.pass(60)
            machine.wall.add(1, ordering: .relaxed)
            #expect(isSteady())
        }
        // Set right at once: it was wrong until now, or is from now on.
        for step in [-3 * 365 * 86_400, 3 * 365 * 86_400, 10, -10] as [Int64] {
            machine.wall.add(step, ordering: .relaxed)
            for _ in 0..<10 {
                #expect(!isSteady())
                machine.pass(60)
            }
            #expect(isSteady())
        }
    }

    @Test("that is years ahead at a start deletes nothing before it is set right")
    func wrongAtStart() async throws {
        let server = try await TestServer.make(.sqlite)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        let lines = try await server.rows("SELECT id FROM audit").count
        #expect(lines > 0)
        let machine = Machine()
        machine.wall.add(5 * 365 * 86_400, ordering: .relaxed)
        let service = Service(
            database: server.database, keys: server.service.keys, clock: machine.clock,
            issuer: "https://id.example.org", auditDays: 365)
        let house = Task {
            await service.maintenance.runMaintenance(
                every: .milliseconds(2), keysEvery: .milliseconds(2))
        }
        // The keys are read anew meanwhile, and with them it is seen that time passes.
        let transactions = { server.database.figures.waits.snapshot.counts.reduce(0, +) }
        let before = transactions()
        try await until { transactions() > before + 20 }
        #expect(try await server.rows("SELECT id FROM audit").count == lines)
        machine.wall.subtract(5 * 365 * 86_400, ordering: .relaxed)
        let later = transactions()
        try await until { transactions() > later + 20 }
        #expect(try await server.rows("SELECT id FROM audit").count == lines)
        // Two years later it is as it should be.
        for _ in 0..<3 {
            machine.pass(365 * 86_400)
            let now = transactions()
            try await until { transactions() > now + 40 }
        }
        let left = try await server.rows("SELECT detail FROM audit")
        #expect(try left.map { try $0.text(0).hasPrefix("audit.keep 365 through ") } == [true])
        house.cancel()
        await house.value
    }
}
