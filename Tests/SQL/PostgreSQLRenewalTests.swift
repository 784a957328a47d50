// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import TestSupport
import Testing

@Suite("What an administrator renews on PostgreSQL")
struct PostgreSQLRenewalTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("is a role's password: the next connection reads it from the passfile")
    func password() async throws {
        let server = try PostgreSQLServer()
        try server.query("CREATE ROLE secured LOGIN SUPERUSER PASSWORD 'one'")
        try server.demandPassword(of: "secured")
        try server.reload()
        try scratch.write("pgpass", "*:*:*:secured:one\n")
        let database = try PostgreSQLDatabase(
            connection: """
                host=\(server.socketDirectory) user=secured dbname=postgres \
                passfile=\(scratch.at("pgpass"))
                """, connections: 1)
        try await database.migrate(things)
        try await insert(1, into: database)
        try server.query("ALTER ROLE secured PASSWORD 'two'")
        // The present connection was admitted before.
        try await insert(2, into: database)
        try server.endConnections()
        let met = await fault { try await insert(3, into: database) }
        guard case .unavailable(let text) = met else {
            Issue.record("gave \(String(describing: met))")
            return
        }
        #expect(text.contains("password authentication failed"))
        try scratch.write("pgpass", "*:*:*:secured:two\n")
        try await expectServed(database)
        await database.close()
    }

    @Test("is its certificate, also by another authority that the server's file then names")
    func certificate() async throws {
        for name in ["old", "new"] { try scratch.makeCertificate(name, of: "DNS:localhost") }
        let server = try PostgreSQLServer(
            identity: (try scratch.read("old.pem"), try scratch.read("old.key")))
        try scratch.write("authority.pem", try scratch.read("old.pem"))
        let database = try PostgreSQLDatabase(
            connection: """
                host=localhost hostaddr=127.0.0.1 port=\(server.tlsPort) user=signet \
                dbname=postgres sslmode=verify-full sslrootcert=\(scratch.at("authority.pem"))
                """, connections: 1)
        try await database.migrate(things)
        try server.use((try scratch.read("new.pem"), try scratch.read("new.key")))
        try server.reload()
        try server.endConnections()
        let met = await fault { try await insert(1, into: database) }
        guard case .unavailable = met else {
            Issue.record("gave \(String(describing: met))")
            return
        }
        try scratch.write("authority.pem", try scratch.read("new.pem"))
        try await expectServed(database)
        await database.close()
    }

    /// Waits only for the time that a failure is remembered.
    private func expectServed(_ database: any Database) async throws {
        var met = DatabaseFault?.some(.full)
        for code in 10..<110 as Range<Int64> where met != nil {
            met = await fault { try await insert(code, into: database) }
            if met != nil { try await Task.sleep(for: .milliseconds(20)) }
        }
        #expect(met == nil)
    }
}
