// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import Testing

@Suite("A migration")
struct MigrationTests {
    private static let later =
        things + [
            Migration(
                2,
                statements: [
                    "ALTER TABLE codes ADD COLUMN name TEXT; CREATE INDEX used ON codes (used)",
                    "INSERT INTO codes (code, used, name) VALUES (1, 0, 'first')",
                ])
        ]

    @Test("is done once, and those after it when they are there", arguments: Backend.allCases)
    func steps(backend: Backend) async throws {
        let place = try backend.make()
        for (migrations, version) in [(things, 1), (Self.later, 2), (Self.later, 2)] {
            try await place.use(migrations) { database in
                let found = try await database.schemaVersion()
                #expect(found == version)
            }
        }
    }

    @Test("of a later program is refused", arguments: Backend.allCases)
    func newer(backend: Backend) async throws {
        let place = try backend.make()
        try await place.use(Self.later) { _ in }
        let fault = await fault { try await place.use(things) { _ in } }
        #expect(fault == .newer(found: 2, known: 1))
    }

    @Test("that fails leaves the form before it", arguments: Backend.allCases)
    func failing(backend: Backend) async throws {
        let place = try backend.make()
        let bad =
            things + [
                Migration(2, statements: ["CREATE TABLE more (id {serial})", "CREATE TABLE"])
            ]
        let fault = await fault { try await place.use(bad) { _ in } }
        guard case .broken = fault else {
            Issue.record("gave \(String(describing: fault))")
            return
        }
        try await place.use(things) { database in
            let found = try await database.schemaVersion()
            #expect(found == 1)
        }
        try await place.use(Self.later) { database in
            let found = try await codes(of: database)
            #expect(found == [1])
        }
    }

    @Test("is done once by many programs at once", arguments: Backend.allCases)
    func concurrent(backend: Backend) async throws {
        let place = try backend.make()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask { try await place.use(Self.later) { _ in } }
            }
            try await group.waitForAll()
        }
        try await place.use(Self.later) { database in
            let found = try await codes(of: database)
            #expect(found == [1])
        }
    }

    @Test("is refused where one is missing", arguments: Backend.allCases)
    func gap(backend: Backend) async throws {
        let place = try backend.make()
        let fault = await fault { try await place.use([Migration(2, statements: [])]) { _ in } }
        guard case .broken = fault else {
            Issue.record("gave \(String(describing: fault))")
            return
        }
    }
}
