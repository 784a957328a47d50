// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

@Suite("An operation whose time is over")
struct ExpiredOperationTests {
    @Test(
        "cannot be approved at a running server, and becomes EXPIRED",
        arguments: Backend.allCases)
    func late(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let server = try ServerProcess(home)
        let device = try TestDevice()
        try await server.register(device)
        let made = try home.administer(
            "template", "add", "shop", "payment", "pay {amount} EUR", "--seconds", "60")
        #expect(made.succeeded, "\(made.errors)")
        func operation() async throws -> String {
            try await server.ask(
                "POST", "/v1/operations",
                ["account": "alice", "template": "payment", "data": ["amount": "10"]]
            ).text("operation")
        }
        func approval(_ id: String) async throws -> [String: Any] {
            let path = "/v1/device/operations/\(id)"
            let request = TestRequest(method: "GET", resource: path, body: [])
            let header = try device.header(
                try device.statement(of: request, at: server.time.now))
            let shown = try await server.send(
                "GET", path, nil, key: nil, headers: [("Authorization", header)], from: "")
            let statement = OperationStatement(
                head: device.head, operation: try #require(OperationID(text: id)),
                challenge: try shown.binary("challenge"),
                template: [UInt8](try shown.text("template").utf8),
                data: [UInt8](try shown.text("data").utf8), decision: .approve,
                claims: device.claims(at: server.time.now))
            return try device.signed(statement.encoded(), .operation)
        }
        let (late, inTime) = (try await operation(), try await operation())
        let bodies = (try await approval(late), try await approval(inTime))
        // Its minute is over: the clock of a process is not the test's.
        let other = try await open(home.place)
        try await other.write { store throws(DatabaseFault) in
            guard let id = OperationID(text: late) else { throw .broken("no id") }
            _ = try store.run(
                "UPDATE operation SET expires = $1 WHERE id = $2",
                [.integer(server.time.now - 1), .bytes(id.bytes)])
        }
        await other.close()
        let refused = try await server.send("POST", "/v1/operations/\(late)/decision", bodies.0)
        #expect(refused.status == 409 && refused.code == "conflict")
        let state = try await server.ask("GET", "/v1/operations/\(late)", nil)
        #expect(try state.text("status") == "EXPIRED")
        let cancel = try await server.ask("POST", "/v1/operations/\(late)/cancel", [:])
        #expect(cancel.status == 409)
        // The other is none the worse.
        let accepted = try await server.send("POST", "/v1/operations/\(inTime)/decision", bodies.1)
        #expect(accepted["status"] as? String == "APPROVED")
        try server.stop()
    }

    private func open(_ place: TestDatabase.Place) async throws -> any Database {
        switch place {
        case .sqlite(let path): try SQLiteDatabase(path: path)
        case .postgreSQL(let connection): try PostgreSQLDatabase(connection: connection)
        }
    }
}
