import Database
import Synchronization
import TestSupport
import Testing

/// What every test of a database runs on.
enum Backend: String, CaseIterable, CustomTestStringConvertible {
    case sqlite = "SQLite"
    case postgreSQL = "PostgreSQL"

    var testDescription: String { rawValue }

    /// An empty database of this kind.
    func make() throws -> TestDatabase {
        switch self {
        case .sqlite:
            let scratch = try Scratch()
            let path = scratch.at("database")
            return TestDatabase(place: .sqlite(path), scratch: scratch)
        case .postgreSQL:
            return TestDatabase(place: .postgreSQL(try Shared.server.get().makeDatabase()))
        }
    }
}

/// The server that all tests of this process share, each with a database of its own in it.
enum Shared {
    static let server = Result { try PostgreSQLServer() }
}

/// An empty database, and what it takes to open it, several times if wanted.
final class TestDatabase: Sendable {
    enum Place: Sendable {
        case sqlite(String)
        case postgreSQL(String)
    }

    let place: Place
    private let scratch: Scratch?

    init(place: Place, scratch: Scratch? = nil) {
        self.place = place
        self.scratch = scratch
    }

    func open() throws(DatabaseFault) -> any Database {
        switch place {
        case .sqlite(let path): try SQLiteDatabase(path: path)
        case .postgreSQL(let connection): try PostgreSQLDatabase(connection: connection)
        }
    }

    /// Opens it, lets `body` use it, and closes it.
    func use<T>(
        _ migrations: [Migration] = [], _ body: (any Database) async throws -> T
    ) async throws -> T {
        let database = try open()
        do {
            try await database.migrate(migrations)
            let result = try await body(database)
            await database.close()
            return result
        } catch {
            await database.close()
            throw error
        }
    }
}

/// A form with a table of each kind of column.
let things = [
    Migration(
        1,
        [
            "CREATE TABLE things (id {serial}, number BIGINT, name TEXT UNIQUE, content {bytes})",
            "CREATE TABLE codes (code BIGINT PRIMARY KEY, used BIGINT NOT NULL)",
        ])
]
