// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import SQL
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("Callbacks of the server's process", .serialized)
struct CallbackProcessTests {
    private static let settings = """
        [callback]
        networks = 127.0.0.0/8
        """

    private func database(of home: ServerHome) throws -> any Database {
        switch home.place {
        case .sqlite(let path): try SQLiteDatabase(path: path)
        case .postgreSQL(let connection): try PostgreSQLDatabase(connection: connection)
        }
    }

    private func operationID(of body: [UInt8]) throws -> String? {
        let payload = try #require(body.split(separator: UInt8(ascii: ".")).dropFirst().first)
        var text = String(decoding: payload, as: UTF8.self)
            .replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        let data = try #require(Data(base64Encoded: text))
        let members = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return members?["operation"] as? String
    }

    /// Makes an operation at a server, and cancels it there, which is an event.
    private func cancelledOperation(at server: ServerProcess) async throws -> String {
        let made = try await server.ask(
            "POST", "/v1/operations",
            ["account": "alice", "template": "payment", "data": ["amount": "1"]])
        let id = try made.text("operation")
        let reply = try await server.ask("POST", "/v1/operations/\(id)/cancel", [:])
        #expect(reply.status == 200)
        return id
    }

    private func prepare(_ home: ServerHome, _ server: ServerProcess, _ url: String) throws {
        for words in [
            ["template", "add", "shop", "payment", "pay {amount}"],
            ["activation", "add", "shop", "alice"], ["callback", "set", "shop", url],
        ] {
            let configuration = try home.configuration(Self.settings)
            let outcome = try Program(
                Command([ServerProcess.program, "admin", "--config", configuration] + words)
            ).expectEnd()
            #expect(outcome.succeeded, "\(outcome.errors)")
        }
    }

    @Test(
        "survive that it is killed before and while they are sent", arguments: Backend.allCases)
    func killed(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let gate = Turnstile()
        let receiver = try CallbackReceiver { number, _ in
            if number == 0 { await gate.pass() }
            return HTTPResponse(status: 200)
        }
        let first = try ServerProcess(home, settings: Self.settings)
        try prepare(home, first, receiver.url)
        let operation = try await cancelledOperation(at: first)
        try await until { receiver.received.count == 1 }
        // The attempt is under way; what happens now is not sent before it is over.
        let next = try await cancelledOperation(at: first)
        try first.kill()
        #expect(receiver.received.count == 1)
        // The lease of the dead process ends by itself, in a minute; the test does not wait for it.
        let database = try database(of: home)
        let held = try await database.write { store throws(DatabaseFault) in
            try store.change("UPDATE callback SET lease = 1 WHERE lease > 1", [])
        }
        #expect(held == 1)
        await database.close()
        let second = try ServerProcess(home, apiKey: first.apiKey, settings: Self.settings)
        try await until { receiver.received.count == 3 }
        let sent = try receiver.received.map { try operationID(of: $0) }
        #expect(sent[0] == operation && Set(sent.dropFirst()) == [operation, next])
        await gate.open()
        try second.stop()
        await receiver.stop()
    }

    @Test("are sent once each by three processes on PostgreSQL")
    func severalProcesses() async throws {
        let home = try ServerHome(.postgreSQL)
        let receiver = try CallbackReceiver()
        let first = try ServerProcess(home, settings: Self.settings)
        try prepare(home, first, receiver.url)
        let others = try (0..<2).map { _ in
            try ServerProcess(home, apiKey: first.apiKey, settings: Self.settings)
        }
        var made: Set<String> = []
        for number in 0..<30 {
            let server = number % 3 == 0 ? first : others[number % 3 - 1]
            made.insert(try await cancelledOperation(at: server))
        }
        try await until { receiver.received.count >= 30 }
        for server in [first] + others { try server.stop() }
        let sent = try receiver.received.compactMap { try operationID(of: $0) }
        #expect(sent.count == 30 && Set(sent) == made)
        await receiver.stop()
    }
}
