// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import Synchronization
import Testing

@Suite("A transaction")
struct TransactionTests {
    private static let sample = DatabaseFault.broken("the body's own")

    @Test(
        "whose body throws changes nothing, and those beside it hold",
        arguments: Backend.allCases)
    func rollback(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            let kept = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        await fault {
                            try await database.write { (transaction) throws(DatabaseFault) in
                                try transaction.run(
                                    "INSERT INTO codes (code, used) VALUES ($1, 0)",
                                    [.integer(Int64(number))])
                                if number % 3 == 0 { throw Self.sample }
                            }
                        } == nil
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(kept == 133)
            let rows = try await codes(of: database)
            #expect(rows == (0..<200).filter { $0 % 3 != 0 })
        }
    }

    @Test(
        "changes nothing after a statement failed, even if its body continues",
        arguments: Backend.allCases)
    func swallowed(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            let fault = await fault {
                try await database.write { (transaction) throws(DatabaseFault) in
                    try transaction.run("INSERT INTO codes (code, used) VALUES (1, 0)")
                    _ = try? transaction.run("INSERT INTO codes (code, used) VALUES (1, 0)")
                    _ = try? transaction.run("INSERT INTO codes (code, used) VALUES (2, 0)")
                }
            }
            guard case .broken = fault else {
                Issue.record("gave \(String(describing: fault))")
                return
            }
            let found = try await codes(of: database)
            #expect(found == [])
        }
    }

    @Test("reports how many rows a statement changed", arguments: Backend.allCases)
    func changes(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            let counts = try await database.write { (transaction) throws(DatabaseFault) in
                let insert: StaticString =
                    "INSERT INTO codes (code, used) VALUES ($1, 0) ON CONFLICT DO NOTHING"
                let update: StaticString = "UPDATE codes SET used = 1 WHERE used = $1"
                return [
                    try transaction.change(insert, [.integer(1)]),
                    try transaction.change(insert, [.integer(1)]),
                    try transaction.change(insert, [.integer(2)]),
                    try transaction.change(update, [.integer(0)]),
                    try transaction.change(update, [.integer(0)]),
                ]
            }
            #expect(counts == [1, 0, 1, 2, 0])
        }
    }

    @Test("keeps writes that no caller waited for, in their order", arguments: Backend.allCases)
    func added(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            // Statements that are new to their connection, and then known ones; alone, and before
            // one that is waited for.
            for round in [0, 10, 20] as [Int64] {
                let seen = try await database.write { (transaction) throws(DatabaseFault) in
                    let insert: StaticString = "INSERT INTO codes (code, used) VALUES ($1, 0)"
                    try transaction.add(insert, [.integer(round)])
                    try transaction.add(insert, [.integer(round + 1)])
                    let rows = try transaction.run("SELECT code FROM codes")
                    try transaction.add(insert, [.integer(round + 2)])
                    return rows.count
                }
                #expect(seen == Int(round) / 10 * 3 + 2)
            }
            let found = try await codes(of: database)
            #expect(found == [0, 1, 2, 10, 11, 12, 20, 21, 22])
        }
    }

    @Test(
        "keeps nothing if a statement failed that no caller waited for",
        arguments: Backend.allCases, [false, true])
    func addedInVain(backend: Backend, isLast: Bool) async throws {
        try await backend.make().use(things) { database in
            let insert: StaticString = "INSERT INTO codes (code, used) VALUES ($1, 0)"
            let fault = await fault {
                try await database.write { (transaction) throws(DatabaseFault) in
                    try transaction.add(insert, [.integer(1)])
                    try transaction.add(insert, [.integer(1)])
                    if !isLast { _ = try? transaction.run("SELECT code FROM codes") }
                    try transaction.add(insert, [.integer(2)])
                }
            }
            guard case .broken = fault else {
                Issue.record("gave \(String(describing: fault))")
                return
            }
            // The connection is as good as before, for the same statements too.
            for number in 3..<40 as Range<Int64> {
                try await database.write { (transaction) throws(DatabaseFault) in
                    try transaction.add(insert, [.integer(number)])
                }
            }
            let found = try await codes(of: database)
            #expect(found == Array(3..<40))
        }
    }

    @Test("runs several statements in their order, and reports each", arguments: Backend.allCases)
    func together(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            let insert: StaticString =
                "INSERT INTO codes (code, used) VALUES ($1, 0) ON CONFLICT DO NOTHING"
            // Statements that are new to their connection, and then known ones; behind one that
            // was not waited for.
            for round in [0, 10, 20] as [Int64] {
                let outcomes = try await database.write { (transaction) throws(DatabaseFault) in
                    try transaction.add(insert, [.integer(round)])
                    return try transaction.run(together: [
                        BoundStatement(insert, [.integer(round)]),
                        BoundStatement(
                            "SELECT code FROM codes WHERE code >= $1 ORDER BY code",
                            [.integer(round)]),
                        BoundStatement(insert, [.integer(round + 1)]),
                        BoundStatement("UPDATE codes SET used = $1", [.integer(round)]),
                    ])
                }
                #expect(outcomes.count == 4)
                #expect(outcomes.map(\.rows.count) == [0, 1, 0, 0])
                #expect(outcomes[1].rows == [Row([.integer(round)])])
                #expect([0, 2, 3].map { outcomes[$0].changes } == [0, 1, Int(round) / 5 + 2])
            }
            let none = try await database.write { (transaction) throws(DatabaseFault) in
                try transaction.run(together: [])
            }
            #expect(none == [])
        }
    }

    @Test("changes nothing if one of several statements failed", arguments: Backend.allCases, 0..<3)
    func togetherInVain(backend: Backend, place: Int) async throws {
        try await backend.make().use(things) { database in
            let insert: StaticString = "INSERT INTO codes (code, used) VALUES ($1, 0)"
            try await database.write { (transaction) throws(DatabaseFault) in
                try transaction.add(insert, [.integer(0)])
            }
            let fault = await fault {
                try await database.write { (transaction) throws(DatabaseFault) in
                    // The failing one inserts what is there.
                    _ = try? transaction.run(
                        together: (0..<3).map { number in
                            BoundStatement(insert, [.integer(number == place ? 0 : number + 1)])
                        })
                    try transaction.add(insert, [.integer(9)])
                }
            }
            guard case .broken = fault else {
                Issue.record("gave \(String(describing: fault))")
                return
            }
            // The connection is as good as before, for the same statements too.
            try await database.write { (transaction) throws(DatabaseFault) in
                _ = try transaction.run(together: [BoundStatement(insert, [.integer(5)])])
            }
            let found = try await codes(of: database)
            #expect(found == [0, 5])
        }
    }

    @Test(
        "lets a statement see what the one before it has waited for", arguments: Backend.allCases)
    func togetherInTurn(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            let outcomes = try await withThrowingTaskGroup(of: [StatementOutcome].self) { group in
                for number in 0..<100 as Range<Int64> {
                    group.addTask {
                        try await database.write { (transaction) throws(DatabaseFault) in
                            try transaction.run(together: [
                                BoundStatement(
                                    """
                                    INSERT INTO codes (code, used) VALUES (1, $1)
                                    ON CONFLICT DO NOTHING
                                    """, [.integer(number)]),
                                BoundStatement("SELECT used FROM codes WHERE code = 1"),
                            ])
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.map { $0[0].changes }.reduce(0, +) == 1)
            // Each that came too late sees the row of the one that was first.
            let first = outcomes.first { $0[0].changes == 1 }?[1].rows
            #expect(first?.count == 1)
            #expect(outcomes.allSatisfy { $0[1].rows == first })
        }
    }

    @Test("that only reads cannot write", arguments: Backend.allCases)
    func readOnly(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            let fault = await fault {
                try await database.read { (transaction) throws(DatabaseFault) in
                    try transaction.run("INSERT INTO codes (code, used) VALUES (1, 0)")
                }
            }
            #expect(fault != nil)
            let found = try await codes(of: database)
            #expect(found == [])
        }
    }

    @Test("cannot be used after its end", arguments: Backend.allCases)
    func escaped(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            let kept = Mutex<Escaped?>(nil)
            try await database.write { (transaction) throws(DatabaseFault) in
                let escaped = Escaped(transaction: transaction)
                kept.withLock { $0 = escaped }
            }
            let escaped = kept.withLock { $0 }
            #expect(throws: DatabaseFault.self) {
                try escaped?.transaction.run("INSERT INTO codes (code, used) VALUES (1, 0)")
            }
        }
    }

    @Test(
        "sees no duplicate of a unique value, and learns of it without a fault",
        arguments: Backend.allCases)
    func unique(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            for expected in [1, 0] {
                let rows = try await database.write { (transaction) throws(DatabaseFault) in
                    try transaction.run(
                        """
                        INSERT INTO things (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id
                        """, [.text("only")])
                }
                #expect(rows.count == expected)
            }
        }
    }

    @Test("of a thousand at once uses a code, and no other does", arguments: Backend.allCases)
    func onlyOne(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            try await database.write { (transaction) throws(DatabaseFault) in
                try transaction.run("INSERT INTO codes (code, used) VALUES (7, 0)")
            }
            let winners = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<1000 {
                    group.addTask {
                        try await database.write { (transaction) throws(DatabaseFault) in
                            try transaction.run(
                                """
                                UPDATE codes SET used = 1 WHERE code = $1 AND used = 0
                                RETURNING code
                                """, [.integer(7)]
                            ).count
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(winners == 1)
        }
    }

    @Test(
        "that reads sees all that was committed before it, and one state",
        arguments: Backend.allCases)
    func snapshot(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            for number in 0..<100 {
                try await database.write { (transaction) throws(DatabaseFault) in
                    try transaction.run(
                        "INSERT INTO codes (code, used) VALUES ($1, 0)", [.integer(Int64(number))])
                }
                #expect(try await codes(of: database).count == number + 1)
            }
        }
    }

    @Test("is refused when the database is closed", arguments: Backend.allCases)
    func closed(backend: Backend) async throws {
        let database = try backend.make().open()
        await database.close()
        let fault = await fault {
            try await database.read { (transaction) throws(DatabaseFault) in
                try transaction.run("SELECT 1")
            }
        }
        guard case .unavailable = fault else {
            Issue.record("gave \(String(describing: fault))")
            return
        }
    }

    // SAFETY: the test's body is over when it is used again.
    private struct Escaped: @unchecked Sendable {
        let transaction: any Transaction
    }
}

func insert(_ code: Int64, into database: any Database) async throws(DatabaseFault) {
    try await database.write { (transaction) throws(DatabaseFault) in
        try transaction.run(
            "INSERT INTO codes (code, used) VALUES ($1, 0)", [.integer(code)])
    }
}

/// All codes, in order.
func codes(of database: any Database) async throws -> [Int64] {
    try await database.read { (transaction) throws(DatabaseFault) in
        try transaction.run("SELECT code FROM codes ORDER BY code")
            .map { (row) throws(DatabaseFault) in try row.integer(0) }
    }
}
