/// A value of a column or of a parameter.
package enum Value: Equatable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

/// Why the database did not answer.
package enum DatabaseFault: Error, Equatable {
    /// It cannot be reached, or the connection broke: try later.
    case unavailable(String)
    /// There is no room left for what was to be kept.
    case full
    /// It has a later form than this program knows.
    case newer(found: Int, known: Int)
    /// It answered what a well-formed database does not: a fault of the program or of the data.
    case broken(String)
}

/// One transaction: what it changed holds as a whole or not at all.
package protocol Transaction {
    /// Runs one statement and gives its rows.
    ///
    /// `sql` is in the dialect that SQLite and PostgreSQL share, with `$1`, `$2`, … for the values.
    func run(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> [Row]
}

/// A row of an answer, its columns in the order asked for.
package struct Row: Equatable, Sendable {
    /// Its values.
    package let values: [Value]

    /// From its values.
    package init(_ values: [Value]) {
        self.values = values
    }
}

/// SQLite in a file, or PostgreSQL: the rest of the program cannot tell which it has.
package protocol Database: Sendable {
    /// Runs `body` in a transaction that only reads.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(DatabaseFault) -> T

    /// Runs `body` in a transaction; when this returns, what it changed is durable. If `body`
    /// throws, nothing is changed. It may be run again where another transaction was in the way.
    func write<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(DatabaseFault) -> T

    /// Ends all connections after what is under way.
    func close() async
}
