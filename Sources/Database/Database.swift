// SPDX-License-Identifier: Apache-2.0
/// A value of a column or of a parameter.
package enum Value: Equatable, Sendable {
    case null
    case integer(Int64)
    /// Without NUL, which PostgreSQL cannot keep: neither does SQLite here.
    case text(String)
    case bytes([UInt8])
}

/// Why the database did not answer.
package enum DatabaseFault: Error, Equatable {
    /// It cannot be reached, or the connection broke: try later. A transaction that was being
    /// committed meanwhile may hold or not.
    case unavailable(String)
    /// There is no room left for what was to be kept.
    case full
    /// It has a later form than this program knows.
    case newer(found: Int, known: Int)
    /// It answered what a well-formed database does not: a fault of the program or of the data.
    case broken(String)
}

/// One transaction: what it changed holds as a whole or not at all.
///
/// It is over when the body that it was given to returns. After a statement failed nothing of it is
/// kept, even if the body goes on.
package protocol Transaction {
    /// Runs one statement and gives its rows.
    ///
    /// `sql` is in the dialect that SQLite and PostgreSQL share, with `$1`, `$2`, … for the values,
    /// each used at least once. Columns are whole numbers, texts and bytes: a sum, for example, is
    /// `CAST(SUM(size) AS BIGINT)`.
    @discardableResult
    func run(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> [Row]

    /// Runs one statement that inserts, updates or deletes, and gives how many rows it concerned:
    /// a good deal cheaper than `RETURNING` where no more is asked.
    func change(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> Int

    /// Runs one statement whose answer nobody needs. Where the database is far away, it is sent with
    /// the next one; that it failed may show only then, or at the end: nothing is kept all the same.
    func add(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault)

    /// Whether no other transaction writes before this one has ended: then there are no rows to
    /// lock, and no words for it.
    var isAlone: Bool { get }
}

extension Transaction {
    /// Runs one statement without values.
    @discardableResult
    package func run(_ sql: StaticString) throws(DatabaseFault) -> [Row] { try run(sql, []) }
}

/// What a transaction may do.
package enum Access: Sendable {
    /// Read one state: that of everything that was committed when it began.
    case read
    /// Change rows as well.
    case write
}

/// SQLite in a file, or PostgreSQL: the rest of the program cannot tell which it has.
package protocol Database: Sendable {
    /// Runs `body` in a transaction, and returns when that is over; `read` and `write` give what
    /// it came to.
    func perform(
        _ access: Access,
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> Void
    ) async throws(DatabaseFault)

    /// What it has done since it was opened.
    var figures: DatabaseFigures { get }

    /// Ends all connections after what is under way.
    func close() async
}

extension Database {
    /// Runs `body` in a transaction that only reads, of one state: that of everything that was
    /// committed when it began.
    @inlinable
    package func read<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(DatabaseFault) -> T {
        let result = TransactionResult<T>()
        try await perform(.read) { store throws(DatabaseFault) in result.value = try body(store) }
        return try result.known()
    }

    /// Runs `body` in a transaction; when this returns, what it changed is durable. If `body`
    /// throws, nothing is changed. It may be run again where another transaction was in the way.
    @inlinable
    @discardableResult
    package func write<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(DatabaseFault) -> T {
        let result = TransactionResult<T>()
        try await perform(.write) { store throws(DatabaseFault) in result.value = try body(store) }
        return try result.known()
    }
}

/// What the body of a transaction gave when it ran last.
// SAFETY: set by the one thread that runs the body, and read when that is over.
package final class TransactionResult<T: Sendable>: @unchecked Sendable {
    /// Nil before it ran.
    package var value: T?

    /// Nothing ran yet.
    @inlinable
    package init() {}

    /// The value; `.broken` where there is none.
    @inlinable
    package func known() throws(DatabaseFault) -> T {
        guard let value else { throw .broken("a transaction was not run") }
        return value
    }
}
