// SPDX-License-Identifier: Apache-2.0
import SQL
import Synchronization
import TestSupport

/// What every test of a database runs on.
package enum Backend: String, CaseIterable, CustomStringConvertible {
    /// In a file.
    case sqlite = "SQLite"
    /// In a server of the process's own.
    case postgreSQL = "PostgreSQL"

    /// Its name.
    package var description: String { rawValue }

    /// An empty database of this kind.
    package func make() throws -> TestDatabase { try make(like: nil) }

    /// A database with these tables and no rows: a copy of one that was migrated once, as that takes
    /// longer than most tests. All calls of a process name the same migrations.
    package func make(_ migrations: [Migration]) async throws -> TestDatabase {
        try make(like: try await Templates.shared.database(self, migrations))
    }

    private func make(like template: TestDatabase?) throws -> TestDatabase {
        switch self {
        case .sqlite:
            let scratch = try Scratch()
            if case .sqlite(let path)? = template?.place {
                try scratch.write("database", try Layout.read(path))
            }
            return TestDatabase(place: .sqlite(scratch.at("database")), scratch: scratch)
        case .postgreSQL:
            var name: String?
            if case .postgreSQL(let connection)? = template?.place { name = connection }
            return TestDatabase(
                place: .postgreSQL(try Shared.server.get().makeDatabase(like: name)))
        }
    }
}

/// The databases that others are copies of; nothing is connected to them.
private actor Templates {
    static let shared = Templates()
    private var made: [Backend: Task<TestDatabase, any Error>] = [:]

    func database(_ backend: Backend, _ migrations: [Migration]) async throws -> TestDatabase {
        if let task = made[backend] { return try await task.value }
        let task = Task {
            let database = try backend.make()
            try await database.use(migrations) { _ in }
            return database
        }
        made[backend] = task
        return try await task.value
    }
}

/// The server that all tests of this process share, each with a database of its own in it.
package enum Shared {
    /// Made when it is first wanted.
    package static let server = Result { try PostgreSQLServer() }
}

/// An empty database, and what it takes to open it, several times if wanted.
package final class TestDatabase: Sendable {
    /// Where it is.
    package enum Place: Sendable {
        case sqlite(String)
        case postgreSQL(String)
    }

    /// Where it is.
    package let place: Place
    private let scratch: Scratch?

    init(place: Place, scratch: Scratch? = nil) {
        self.place = place
        self.scratch = scratch
    }

    /// Opens it.
    package func open() throws(DatabaseFault) -> any Database {
        switch place {
        case .sqlite(let path): try SQLiteDatabase(path: path)
        case .postgreSQL(let connection): try PostgreSQLDatabase(connection: connection)
        }
    }

    /// Opens it, lets `body` use it, and closes it.
    package func use<T>(
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
