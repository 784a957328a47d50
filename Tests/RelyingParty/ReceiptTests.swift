// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("The receipts of an account")
struct ReceiptTests {
    /// Of the account of this name, as the page shows them.
    private func receipts(_ server: TestServer, _ name: String = "alice") async throws -> [String] {
        try await server.database.read { store throws(DatabaseFault) in
            guard let shop = try store.applications.application(name: "shop"),
                let account = try store.accounts.account(name, of: shop.id)
            else { throw .broken("no account") }
            return try store.site.receipts(of: account, application: shop.name, most: 50).map(
                \.event)
        }
    }

    @Test(
        "are not those of another account that had its name before", arguments: Backend.allCases)
    func anothersName(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        #expect(
            try await receipts(server) == ["login", "registration", "registration", "activation"])
        // All of it within one second.
        try await server.administer("application", "remove", "shop", "--devices", "remove")
        try await server.administer("application", "add", "shop")
        try await server.administer("activation", "add", "shop", "alice")
        #expect(try await receipts(server) == ["activation"])
        // The trail itself has all of them.
        #expect(try await server.audited("login", "ok") == 1)
    }

    /// Lines of other accounts, so many that it costs to look through them.
    private static let lines: StaticString = """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO audit (time, application, account, registration, event, outcome, address,
            agent, detail)
        SELECT 1, 'shop', 'a' || i % 50, '', 'login', 'ok', '', '', '' FROM n
        """

    @Test("are found by an index, and not by looking through the trail")
    func plan() async throws {
        let sqlite: StaticString = """
            EXPLAIN QUERY PLAN
            SELECT time, event, outcome, application, account, registration, address, agent, detail
            FROM audit
            WHERE application = $1 AND account = $2 AND id > (SELECT trail FROM account WHERE id = $3)
            ORDER BY id DESC LIMIT $4
            """
        let postgreSQL: StaticString = """
            EXPLAIN
            SELECT time, event, outcome, application, account, registration, address, agent, detail
            FROM audit
            WHERE application = $1 AND account = $2 AND id > (SELECT trail FROM account WHERE id = $3)
            ORDER BY id DESC LIMIT $4
            """
        for (backend, question, column) in [
            (Backend.sqlite, sqlite, 3), (.postgreSQL, postgreSQL, 0),
        ] {
            #expect("\(question)".hasSuffix("\(ReceiptQuery.sql)"))
            let server = try await TestServer.make(backend)
            try await server.change(Self.lines)
            if backend == .postgreSQL { try await server.change("ANALYZE audit") }
            let plan = try await server.rows(
                question, [.text("shop"), .text("a7"), .integer(1), .integer(50)])
            let text = try plan.map { try $0.text(column) }.joined(separator: "\n")
            #expect(text.contains("audit_account"), "\(text)")
            #expect(!text.contains("SCAN") && !text.contains("Seq Scan on audit"), "\(text)")
            #expect(!text.contains("TEMP B-TREE") && !text.contains("Sort"), "\(text)")
        }
    }
}
