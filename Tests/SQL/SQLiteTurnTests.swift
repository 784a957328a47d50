// SPDX-License-Identifier: Apache-2.0
import Glibc
import SQL
import SQLSupport
import Synchronization
import TestSupport
import Testing

@Suite("Two programs that write to one SQLite file")
struct SQLiteTurnTests {
    /// Keeps so many writers busy until `isOver`; gives the first fault that one of them met.
    private func load(_ database: any Database, _ isOver: Signal) -> Task<DatabaseFault?, Never> {
        Task {
            await withTaskGroup(of: DatabaseFault?.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        var met: DatabaseFault?
                        while !isOver.isUp && met == nil {
                            met = await fault {
                                try await database.write { store throws(DatabaseFault) in
                                    try store.run("UPDATE codes SET used = used + 1")
                                    // All together for so long that the moment between two
                                    // commits is hardly ever met.
                                    usleep(2_000)
                                }
                            }
                        }
                        return met
                    }
                }
                return await group.reduce(nil) { $0 ?? $1 }
            }
        }
    }

    @Test("take turns, however busy one of them is")
    func turns() async throws {
        let place = try Backend.sqlite.make()
        let (busy, other) = (try place.open(), try place.open())
        try await busy.migrate(things)
        try await insert(0, into: busy)
        let isOver = Signal()
        let writers = load(busy, isOver)
        while busy.figures.batches.snapshot.sum < 500 { await Task.yield() }
        for number in 1...8 as ClosedRange<Int64> {
            // A program that misses its moment too often is told that the database is busy.
            try await insert(number, into: other)
        }
        isOver.raise()
        #expect(await writers.value == nil)
        let found = try await codes(of: busy)
        #expect(found == Array(0...8))
        await busy.close()
        await other.close()
    }

    @Test(
        "are not kept waiting without end by one that was stopped when its turn came",
        .timeLimit(.minutes(10)))
    func stopped() async throws {
        let scratch = try Scratch()
        let database = try SQLiteDatabase(path: scratch.at("database"))
        try await database.migrate(things)
        let stopped = try Program(
            Command([
                "flock", "--no-fork", scratch.at("database-turn"), "sh", "-c",
                "echo held; exec sleep infinity",
            ]))
        try stopped.expect("held")
        try await insert(1, into: database)
        stopped.signal(SIGKILL)
        let found = try await codes(of: database)
        #expect(found == [1])
        await database.close()
    }

    @Test("open it while another writes")
    func opened() async throws {
        let place = try Backend.sqlite.make()
        let busy = try place.open()
        try await busy.migrate(things)
        let other = try await busy.write { store throws(DatabaseFault) in
            try store.run("INSERT INTO codes (code, used) VALUES (1, 0)")
            return try place.open()
        }
        let found = try await codes(of: other)
        #expect(found == [1])
        await other.close()
        await busy.close()
    }
}

private final class Signal: Sendable {
    private let value = Atomic(false)
    var isUp: Bool { value.load(ordering: .sequentiallyConsistent) }
    func raise() { value.store(true, ordering: .sequentiallyConsistent) }
}
