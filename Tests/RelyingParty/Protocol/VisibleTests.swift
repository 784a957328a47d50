// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import Testing

@testable import RelyingParty

@Suite("What strangers call themselves")
struct VisibleTests {
    /// Each hides, ends a line, or turns the direction of writing.
    private static let unseen = [
        "\u{202E}", "\u{2066}", "\u{2028}", "\u{2029}", "\u{85}", "\u{200B}", "\u{2060}",
        "\u{FEFF}", "\u{AD}", "\u{1B}", "\u{7F}", "\u{E0041}",
    ]

    @Test("is shown in the audit trail exactly as it is", arguments: Backend.allCases)
    func trail(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.makeTemplate()
        _ = try await server.ask("POST", "/v1/activations", ["account": "alice"])
        for unseen in Self.unseen {
            let reply = try await server.send(
                "POST", "/v1/token/refresh", ["refreshToken": "x"],
                headers: [("user-agent", "curl\(unseen)/7 \u{E9}")])
            #expect(reply.status == 401)
            var wish = TestServer.payment
            wish["additional"] = ["agent": "Fire\(unseen)fox", "address": "\(unseen)192.0.2.7"]
            let operation = try await server.operation(wish)
            _ = try await server.ask("POST", "/v1/operations/\(operation)/cancel", [:])
        }
        for row in try await server.rows("SELECT agent, detail FROM audit") {
            for text in [try row.text(0), try row.text(1)] {
                #expect(!Self.unseen.contains { text.unicodeScalars.contains($0.unicodeScalars) })
            }
        }
        for row in try await server.rows("SELECT additional FROM operation") {
            #expect(try row.text(0).contains("Fire\u{FFFD}fox"))
        }
    }

    @Test("is not refused where it can be seen, and has one mark for a character")
    func kept() {
        #expect(printable([UInt8]("Firefox \u{E9}\u{4E2D}".utf8)) == "Firefox \u{E9}\u{4E2D}")
        #expect(printable([UInt8]("a\u{202E}b\u{E0041}c".utf8)) == "a\u{FFFD}b\u{FFFD}c")
        #expect(printable([0x61, 0xff, 0x80, 0x62]) == "a\u{FFFD}\u{FFFD}b")
        // Cut in the middle of a character.
        let long = [UInt8](String(repeating: "a", count: 127).utf8) + [0xe4, 0xb8, 0xad]
        #expect(printable(long) == String(repeating: "a", count: 127) + "\u{FFFD}")
    }

    @Test("does nothing to the administrator's terminal", arguments: Backend.allCases)
    func terminal(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        for unseen in Self.unseen where unseen != "\u{1B}" && unseen != "\u{7F}" {
            let name = "eve\(unseen)bob"
            // Not all of them are controls, which no name has.
            _ = try await server.ask("POST", "/v1/activations", ["account": name])
        }
        try await server.database.write { store throws(DatabaseFault) in
            // What an earlier server wrote.
            _ = try store.run("UPDATE audit SET agent = 'x\u{202E}y'")
        }
        for words in [["account", "list", "shop"], ["audit"]] {
            let lines = try await server.administer(words)
            #expect(lines.count > 5)
            for line in lines {
                #expect(
                    !Self.unseen.contains { line.unicodeScalars.contains($0.unicodeScalars) },
                    "\(line.debugDescription)")
            }
        }
    }
}
