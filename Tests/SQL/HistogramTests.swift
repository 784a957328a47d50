// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import Testing

@Suite("A tally")
struct TallyTests {
    @Test("counts a bound below it, and what is above the last at the end")
    func bounds() {
        let tally = Histogram(bounds: [10, 20])
        for value in [-1, 0, 10, 11, 20, 21, 1_000] as [Int64] { tally.note(value) }
        #expect(tally.snapshot.counts == [3, 2, 2])
        #expect(tally.snapshot.sum == 1_061)
    }

    @Test("of a database has each transaction that waited", arguments: Backend.allCases)
    func waits(backend: Backend) async throws {
        try await backend.make().use { database in
            let before = database.figures.waits.snapshot.counts.reduce(0, +)
            for _ in 0..<3 {
                try await database.write { (store) throws(DatabaseFault) in
                    try store.run("SELECT CAST(1 AS BIGINT)")
                }
            }
            #expect(database.figures.waits.snapshot.counts.reduce(0, +) == before + 3)
        }
    }
}
