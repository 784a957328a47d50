// SPDX-License-Identifier: Apache-2.0
/// An SQLite transaction, valid while one body runs.
final class SQLiteTransaction: MigratingTransaction {
    private let connection: SQLiteConnection
    /// The first fault of a statement; the transaction is then rolled back, even if the body
    /// returns.
    private(set) var fault: DatabaseFault?
    private var isOver = false

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Runs a job's body, and throws its fault or that of one of its statements.
    static func run(_ job: Job, on connection: SQLiteConnection) throws(DatabaseFault) {
        let transaction = SQLiteTransaction(connection)
        defer { transaction.isOver = true }
        try job.run(in: transaction)
        if let fault = transaction.fault { throw fault }
    }

    func run(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> [Row] {
        try noting { () throws(DatabaseFault) in try connection.run(sql, values) }
    }

    func change(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) -> Int {
        try noting { () throws(DatabaseFault) in try connection.change(sql, values) }
    }

    func add(_ sql: StaticString, _ values: [Value]) throws(DatabaseFault) {
        _ = try run(sql, values)
    }

    func run(together statements: [BoundStatement]) throws(DatabaseFault) -> [StatementOutcome] {
        var outcomes: [StatementOutcome] = []
        outcomes.reserveCapacity(statements.count)
        for statement in statements {
            outcomes.append(
                try noting { () throws(DatabaseFault) in try connection.outcome(of: statement) })
        }
        return outcomes
    }

    var dialect: Dialect { .sqlite }

    // A file has only one writer at a time.
    var isAlone: Bool { true }

    // BEGIN IMMEDIATE has already locked the database.
    func lockForm() {}

    func execute(_ script: String) throws(DatabaseFault) {
        try noting { () throws(DatabaseFault) in try connection.execute(script) }
    }

    private func noting<T>(_ body: () throws(DatabaseFault) -> T) throws(DatabaseFault) -> T {
        guard !isOver else { throw .broken("a transaction was used after its end") }
        if let fault { throw fault }
        do {
            return try body()
        } catch {
            fault = error
            throw error
        }
    }
}
