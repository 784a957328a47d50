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
        #expect(try await database.schemaVersion() == Schema.steps.count)
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
        await #expect(throws: DatabaseFault.newer(found: Schema.steps.count, known: 1)) {
            try await database.migrate([Schema.steps[0]])
        }
        await database.close()
    }

    @Test(
        "lets API keys do what they could, and seals the audit trail from then on",
        arguments: Backend.allCases)
    func keysAndTrail(backend: Backend) async throws {
        let place = try backend.make()
        let database = try place.open()
        try await database.migrate(Array(Schema.steps.prefix(2)))
        try await database.write { store throws(DatabaseFault) in
            try store.run(
                """
                INSERT INTO application (name, audience, devices, commit_required, biometrics,
                    minimum_key, minimum_boot, max_failures, access_seconds, refresh_seconds,
                    created)
                VALUES ('shop', 'a', 'several', 0, 1, 'any', 'any', 5, 300, 86400, 0)
                """)
            try store.run(
                """
                INSERT INTO api_key (hash, application, name, created, revoked)
                VALUES ($1, 1, 'new', 7, NULL), ($2, 1, 'old', 6, 9)
                """, [.bytes([1]), .bytes([2])])
            try store.run(
                """
                INSERT INTO audit (time, application, account, registration, event, outcome,
                    address, agent, detail)
                VALUES (5, 'shop', 'alice', '', 'login', 'ok', '192.0.2.1', 'curl', '')
                """)
        }
        try await database.migrate(Schema.steps)
        let keys = try await database.read { store throws(DatabaseFault) in
            try store.applications.apiKeys(of: 1)
        }
        let scopes = ["verify", "registrations", "operations", "logins"]
        #expect(
            keys == [
                ListedKey(
                    name: "old", scopes: scopes, created: 6, expires: nil, lastUsed: nil,
                    revoked: 9),
                ListedKey(
                    name: "new", scopes: scopes, created: 7, expires: nil, lastUsed: nil,
                    revoked: nil),
            ])
        let state = try await database.read { store throws(DatabaseFault) in
            try store.applications.apiKey([1])?.state
        }
        #expect(state?.scopes == Set(Scope.ofApplications) && state?.isRevoked == false)
        // A key that is stored without scopes may do nothing.
        let bare = try await database.write { store throws(DatabaseFault) in
            try store.run(
                """
                INSERT INTO api_key (hash, application, name, created)
                VALUES ($1, 1, 'bare', 7)
                """, [.bytes([3])])
            return try store.applications.apiKey([3])?.state
        }
        #expect(bare?.scopes == [])
        let lines = try await database.read { store throws(DatabaseFault) in
            let all = AuditFilter(
                since: 0, application: "", account: "", event: "", apiKey: "", most: 9)
            return (
                try store.auditTrail.entries(all).map(\.apiKey),
                try store.auditChain.links(after: 0, most: 9).count,
                try store.auditChain.state().head
            )
        }
        #expect(lines.0 == [""] && lines.1 == 0 && lines.2 == .beginning)
        await database.close()
    }

    @Test(
        "leaves applications as they were, without roles and without a callback",
        arguments: Backend.allCases)
    func callbacks(backend: Backend) async throws {
        let place = try backend.make()
        let database = try place.open()
        try await database.migrate(Array(Schema.steps.prefix(4)))
        try await database.write { store throws(DatabaseFault) in
            try store.run(
                """
                INSERT INTO application (name, audience, devices, commit_required, biometrics,
                    minimum_key, minimum_boot, max_failures, access_seconds, refresh_seconds,
                    created)
                VALUES ('shop', 'a', 'one', 0, 1, 'any', 'any', 5, 300, 86400, 0)
                """)
        }
        try await database.migrate(Schema.steps)
        let (shop, callback) = try await database.read { store throws(DatabaseFault) in
            (
                try store.applications.application(name: "shop"),
                try store.callbacks.callback(of: 1)
            )
        }
        #expect(shop?.roles == [] && shop?.policy.severalDevices == false)
        #expect(callback == nil)
        await database.close()
    }

    @Test("takes one key for the fingerprint alone, also if it was registered for the password too")
    func twoKeys() async throws {
        let place = try Backend.sqlite.make()
        let database = try place.open()
        try await database.migrate(Array(Schema.steps.prefix(10)))
        try await database.write { store throws(DatabaseFault) in
            try store.run(
                """
                INSERT INTO application (name, audience, devices, commit_required, biometrics,
                    minimum_key, minimum_boot, max_failures, access_seconds, refresh_seconds,
                    created)
                VALUES ('shop', 'a', 'one', 0, 1, 'any', 'any', 5, 300, 86400, 0)
                """)
            try store.run(
                """
                INSERT INTO account (application, name, blocked, flags, roles, created)
                VALUES (1, 'alice', 0, '', '', 0)
                """)
            for (id, password) in [1: 7, 2: 8] as [UInt8: UInt8] {
                try store.run(
                    """
                    INSERT INTO registration (id, account, device, public_key, password_key,
                        status, reason, counter, enrolment, failures, key_kind, secure_boot,
                        flags, created, changed)
                    VALUES ($1, 1, $1, $2, $3, 'ACTIVE', '', 1, 0, 0, 'file', 'off', '', 0, 0)
                    """, [.bytes([id]), .bytes([7]), .bytes([password])])
            }
        }
        try await database.migrate(Schema.steps)
        let left = try await database.read { store throws(DatabaseFault) in
            try store.run("SELECT password_key FROM registration ORDER BY id").map {
                row throws(DatabaseFault) in try row.optionalBytes(0)
            }
        }
        #expect(left == [nil, [8]])
        await database.close()
        withExtendedLifetime(place) {}
    }
}
