// SPDX-License-Identifier: Apache-2.0
/// A PostgreSQL transaction, valid while one body runs.
final class PostgreSQLTransaction: MigratingTransaction {
    private let connection: PostgreSQLConnection
    /// The first fault of a statement; the transaction is then rolled back, even if the body
    /// returns.
    private(set) var fault: PostgreSQLFault?
    private var isOver = false
    /// Whether it has inserted, changed or deleted rows, except by statements that return rows.
    private var hasWritten = false

    init(_ connection: PostgreSQLConnection) { self.connection = connection }

    /// Runs a job's body, and throws its fault or that of one of its statements.
    ///
    /// Returns whether the commit will write something; false may also mean that this is not known.
    static func run(
        _ job: Job, on connection: PostgreSQLConnection
    ) throws(PostgreSQLFault) -> Bool {
        let transaction = PostgreSQLTransaction(connection)
        defer { transaction.isOver = true }
        do throws(DatabaseFault) {
            try job.run(in: transaction)
        } catch {
            throw transaction.fault ?? .fault(error)
        }
        if let fault = transaction.fault { throw fault }
        return transaction.hasWritten
    }

    func run(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> [Row] {
        try noting { () throws(PostgreSQLFault) in
            try connection.send(sql, values)
            return try connection.settle().rows()
        }
    }

    func change(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> Int {
        try noting { () throws(PostgreSQLFault) in
            try connection.send(sql, values)
            let changes = try connection.settle().changes
            if changes > 0 { hasWritten = true }
            return changes
        }
    }

    func add(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) {
        try noting { () throws(PostgreSQLFault) in try connection.send(sql, values) }
        hasWritten = true
    }

    func run(together statements: [BoundStatement]) throws(DatabaseFault) -> [StatementOutcome] {
        try noting { () throws(PostgreSQLFault) in
            for statement in statements { try connection.send(statement.sql, statement.values) }
            let outcomes = try connection.settle(reading: statements.count)
            if outcomes.contains(where: { $0.rows.isEmpty && $0.changes > 0 }) { hasWritten = true }
            return outcomes
        }
    }

    var dialect: Dialect { .postgreSQL }

    var isAlone: Bool { false }

    func lockForm() throws(DatabaseFault) {
        // "sgnt" in ASCII
        try execute(
            """
            SET LOCAL statement_timeout = '\(Self.migrationSeconds)s';
            SELECT pg_advisory_xact_lock(1936158324)
            """)
    }

    // A migration may take long, here or in another process that this one waits for.
    private static let migrationSeconds: Int64 = 600

    func execute(_ script: String) throws(DatabaseFault) {
        try noting { () throws(PostgreSQLFault) in
            try connection.execute(script, within: .seconds(Self.migrationSeconds + 10))
        }
    }

    private func noting<T>(
        _ body: () throws(PostgreSQLFault) -> T
    ) throws(DatabaseFault) -> T {
        guard !isOver else { throw .broken("a transaction was used after its end") }
        if let fault { throw fault.plain }
        do throws(PostgreSQLFault) {
            return try body()
        } catch {
            fault = error
            throw error.plain
        }
    }
}
