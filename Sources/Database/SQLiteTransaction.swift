// SPDX-License-Identifier: Apache-2.0
/// A transaction of SQLite's, for one body.
final class SQLiteTransaction: MigratingTransaction {
    private let connection: SQLiteConnection
    /// What a statement failed with: nothing is kept then, whatever the body makes of it.
    private(set) var fault: DatabaseFault?
    private var isOver = false

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Runs a job's body to its end; throws what it or one of its statements threw.
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

    var dialect: Dialect { .sqlite }

    // There is one writer.
    var isAlone: Bool { true }

    // BEGIN IMMEDIATE has done it.
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
