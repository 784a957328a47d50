// SPDX-License-Identifier: Apache-2.0
/// A value of a column or of a parameter of a statement.
package enum Value: Equatable, Sendable {
    case null
    case integer(Int64)
    /// A text without NUL: PostgreSQL cannot store one, and for SQLite it is rejected as well.
    case text(String)
    case bytes([UInt8])
}

/// A transaction: either all of its changes are committed, or none.
///
/// It is valid only until the body that received it returns. After a failed statement the
/// transaction is rolled back, even if the body continues and returns normally.
package protocol Transaction {
    /// Runs one statement and returns its rows.
    ///
    /// - Parameters:
    ///   - sql: a statement in the dialect that SQLite and PostgreSQL share, with `$1`, `$2`, … for
    ///     the values, each used at least once. Columns must be integers, texts or bytes; a sum,
    ///     for example, is `CAST(SUM(size) AS BIGINT)`.
    ///   - values: the values for `$1`, `$2`, …
    @discardableResult
    func run(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> [Row]

    /// Runs one INSERT, UPDATE or DELETE, and returns the number of affected rows.
    ///
    /// Considerably cheaper than `RETURNING` if only the number is needed.
    func change(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> Int

    /// Runs one statement whose result is not needed.
    ///
    /// PostgreSQL receives it together with the next statement, so a failure may be reported only
    /// there or at the commit; the transaction is rolled back in any case.
    func add(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault)

    /// Runs several statements in their order, and returns what became of each.
    ///
    /// PostgreSQL receives them together, so that they cost one round trip. Each still sees what was
    /// committed before it began itself, and waits for locks, as if it had been sent alone. All of
    /// them run, so none may depend on the result of another.
    func run(together statements: [BoundStatement]) throws(DatabaseFault) -> [StatementOutcome]

    /// Whether no other transaction can write before this one ends, as with SQLite.
    ///
    /// Rows then need no locks, for which SQLite has no syntax.
    var isAlone: Bool { get }
}

/// A statement with the values for its parameters.
package struct BoundStatement: Sendable {
    /// The statement, as in `Transaction.run`.
    package let sql: StaticString
    /// The values for `$1`, `$2`, …
    package let values: [Value]

    /// Binds values to a statement.
    package init(_ sql: StaticString, _ values: [Value] = []) {
        self.sql = sql
        self.values = values
    }
}

/// What became of one of several statements.
package struct StatementOutcome: Equatable, Sendable {
    /// The rows that it returned.
    package let rows: [Row]
    /// The number of rows that an INSERT, UPDATE or DELETE affected; meaningless for others.
    package let changes: Int
}

extension Transaction {
    /// Runs one statement and returns its rows.
    package func run(_ statement: BoundStatement) throws(DatabaseFault) -> [Row] {
        try run(statement.sql, statement.values)
    }

    /// Runs one statement without values, and returns its rows.
    @discardableResult
    package func run(_ sql: StaticString) throws(DatabaseFault) -> [Row] { try run(sql, []) }
}

/// The access that a transaction needs.
package enum Access: Sendable {
    /// Read a snapshot of everything that was committed when the transaction began.
    case read
    /// Read and change rows.
    case write
}

/// A database, SQLite in a file or PostgreSQL; callers need not know which.
package protocol Database: Sendable {
    /// Runs `body` in a transaction and returns when the transaction has ended.
    ///
    /// `read` and `write` are more convenient, because they return the body's result.
    func perform(
        _ access: Access,
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> Void
    ) async throws(DatabaseFault)

    /// Figures since the database was opened.
    var figures: DatabaseFigures { get }

    /// Completes the running transactions, then closes all connections.
    func close() async
}

extension Database {
    /// Runs `body` in a transaction that reads a snapshot of what was committed when it began.
    @inlinable
    package func read<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(DatabaseFault) -> T {
        let result = TransactionResult<T>()
        try await perform(.read) { store throws(DatabaseFault) in result.value = try body(store) }
        return try result.known()
    }

    /// Runs `body` in a transaction, and returns when its changes are durable.
    ///
    /// If `body` throws, nothing is changed. `body` may run more than once, if another transaction
    /// conflicts with it or shares its commit, so it must have no other side effects.
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

/// Holds the result of a transaction's body, from the last time that it ran.
// SAFETY: set by the one thread that runs the body, and read when that is over.
package final class TransactionResult<T: Sendable>: @unchecked Sendable {
    /// The value; nil before the body has run.
    package var value: T?

    /// Creates a result without a value.
    @inlinable
    package init() {}

    /// Returns the value; throws `.broken` if there is none.
    @inlinable
    package func known() throws(DatabaseFault) -> T {
        guard let value else { throw .broken("a transaction was not run") }
        return value
    }
}
