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

    /// Whether no other transaction writes before this one has ended: then there are no rows to
    /// lock, and no words for it.
    var isAlone: Bool { get }
}

extension Transaction {
    /// Runs one statement without values.
    @discardableResult
    package func run(_ sql: StaticString) throws(DatabaseFault) -> [Row] { try run(sql, []) }
}

/// SQLite in a file, or PostgreSQL: the rest of the program cannot tell which it has.
package protocol Database: Sendable {
    /// Runs `body` in a transaction that only reads, of one state: that of everything that was
    /// committed when it began.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(DatabaseFault) -> T

    /// Runs `body` in a transaction; when this returns, what it changed is durable. If `body`
    /// throws, nothing is changed. It may be run again where another transaction was in the way.
    @discardableResult
    func write<T: Sendable>(
        _ body: @escaping @Sendable (any Transaction) throws(DatabaseFault) -> T
    ) async throws(DatabaseFault) -> T

    /// What it has done since it was opened.
    var figures: DatabaseFigures { get }

    /// Ends all connections after what is under way.
    func close() async
}
