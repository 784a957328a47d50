// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import Testing

@Suite("A value")
struct ValueTests {
    @Test("of each kind is read as it was written", arguments: Backend.allCases)
    func kinds(backend: Backend) async throws {
        let big = (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        let rows: [[Value]] = [
            [.integer(.max), .text(""), .bytes([])],
            [.integer(.min), .text("Zoë 指紋 🫆\n'; DROP TABLE things; --"), .bytes([0, 1, 0, 255])],
            [.null, .null, .null],
            [.integer(-1), .text("$1 \\x00 %s \""), .bytes(big)],
        ]
        try await backend.make().use(things) { database in
            for row in rows {
                let answer = try await database.write { (transaction) throws(DatabaseFault) in
                    try transaction.run(
                        """
                        INSERT INTO things (number, name, content) VALUES ($1, $2, $3)
                        RETURNING number, name, content
                        """, row)
                }
                #expect(answer == [Row(row)])
            }
            let all = try await database.read { (transaction) throws(DatabaseFault) in
                try transaction.run("SELECT number, name, content FROM things ORDER BY id")
            }
            #expect(all == rows.map { Row($0) })
            let count = try await database.read { (transaction) throws(DatabaseFault) in
                try transaction.run(
                    "SELECT COUNT(*) FROM things WHERE name = $1 AND number = $2",
                    [rows[1][1], rows[1][0]])
            }
            #expect(count == [Row([.integer(1)])])
        }
    }

    @Test("may come in any order, and twice", arguments: Backend.allCases)
    func order(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            let rows = try await database.write { (transaction) throws(DatabaseFault) in
                try transaction.run(
                    """
                    INSERT INTO things (name, number) VALUES ($2, $1)
                    RETURNING number, name, number = $1
                    """, [.integer(5), .text("five")])
            }
            #expect(try rows.first?.integer(0) == 5)
            #expect(try rows.first?.text(1) == "five")
            #expect(try rows.first?.integer(2) == 1)
        }
    }

    @Test(
        "is refused if the statement has no place for it, or it holds a NUL in a text",
        arguments: Backend.allCases)
    func refusals(backend: Backend) async throws {
        try await backend.make().use(things) { database in
            for values: [Value] in [[], [.integer(1), .integer(2)], [.text("a\0b")]] {
                let fault = await fault {
                    try await database.read { (transaction) throws(DatabaseFault) in
                        try transaction.run("SELECT id FROM things WHERE name = $1", values)
                    }
                }
                guard case .broken = fault else {
                    Issue.record("\(values) gave \(String(describing: fault))")
                    continue
                }
            }
        }
    }
}

/// The fault that `body` throws; nil if none.
func fault<T>(_ body: () async throws -> T) async -> DatabaseFault? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? DatabaseFault
    }
}
