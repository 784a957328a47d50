// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import Testing

@testable import RelyingParty

@Suite("The server's schema")
struct SchemaTests {
    @Test(
        "loses the tables of the page for browsers, and nothing else", arguments: Backend.allCases)
    func pageTables(backend: Backend) async throws {
        let place = try backend.make()
        let database = try place.open()
        try await database.migrate([Schema.steps[0]])
        try await database.write { store throws(DatabaseFault) in
            try store.run(
                """
                INSERT INTO site_session (hash, token_session, created, expires)
                VALUES ($1, $1, 1, 2)
                """, [.bytes([1])])
            try store.run(
                "INSERT INTO forgotten (what, before) VALUES ($1, 7)", [.text("nonce")])
        }
        try await database.migrate(Schema.steps)
        #expect(try await database.schemaVersion() == 2)
        let kept = try await database.read { store throws(DatabaseFault) in
            try store.run("SELECT before FROM forgotten").count
        }
        #expect(kept == 1)
        for query in ["SELECT 1 FROM site_session", "SELECT 1 FROM site_login"] as [StaticString] {
            await #expect(throws: DatabaseFault.self) {
                try await database.read { store throws(DatabaseFault) in try store.run(query) }
            }
        }
        // A program from before does not start on it.
        await #expect(throws: DatabaseFault.newer(found: 2, known: 1)) {
            try await database.migrate([Schema.steps[0]])
        }
        await database.close()
    }
}
