// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Glibc
import LoginMessages
import LoginProtocol
import RelyingPartySupport
import SignedFormats
import Synchronization
import TestSupport
import Testing

extension SecondDaemonTests {
    /// The command, the daemon, its relay and the real server.
    @Suite("signet operations, at a real server")
    struct OperationCommandTests {
        private func fixture() async throws -> ServerFixture {
            let server = try await LiveServer.start()
            try server.makeTemplate()
            let fixture = try ServerFixture(server)
            // Root about root itself: the test is root, and the kernel says so.
            try fixture.daemon.enrol(.root, as: "two")
            #expect(try fixture.enable(.root, with: "two").enabled != nil)
            return fixture
        }

        /// Runs the command, and touches when it says so; `told` is what went to standard error.
        private func signet(
            _ fixture: ServerFixture, _ words: String...
        ) throws -> (code: ExitCode, text: String, told: String) {
            let output = Mutex<Bytes>([])
            let errors = Mutex<String>("")
            var surroundings = CommandEnvironment()
            surroundings.socketPath = fixture.daemon.socket
            surroundings.columns = { nil }
            surroundings.output = { bytes in
                output.withLock { $0 += bytes }
                return true
            }
            surroundings.release = { bytes in
                output.withLock { $0 += bytes }
                return true
            }
            let reader = fixture.daemon.text
            surroundings.errors = { bytes in
                errors.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
                if bytes.starts(with: Bytes("swipe your finger across the reader".utf8)) {
                    try? reader.send(.scan("two"))
                }
            }
            let code = Invocation.run(words + ["--account", "root"], in: surroundings)
            return (
                code, String(decoding: output.withLock { $0 }, as: UTF8.self),
                errors.withLock { $0 }
            )
        }

        @Test("touches once to read, and once for each decision")
        func wholeWay() async throws {
            let fixture = try await fixture()
            let paid = try fixture.server.pay("10")
            let first = try signet(fixture, "operations")
            #expect(first.code == .done, "\(first.told)")
            #expect(
                first.told.hasPrefix(
                    "swipe your finger across the reader to list operations"))
            #expect(first.text.contains(paid.prefix(8)) && first.text.contains("pay 10 EUR…"))
            let shown = try signet(fixture, "operations", "show", String(paid.prefix(6)))
            #expect(shown.told == "" && shown.text.hasSuffix("  | pay 10 EUR\n  | to Bob\n"))
            let approved = try signet(fixture, "operations", "approve", String(paid.prefix(6)))
            #expect(approved.code == .done)
            #expect(approved.text.contains("is approved") && approved.text.contains("  | to Bob"))
            #expect(
                approved.told
                    == """
                    swipe your finger across the reader to approve operation \(paid.prefix(8)) of \
                    \(fixture.server.url), or press Ctrl-C to stop
                    asking \(fixture.server.url)

                    """)
            #expect(try fixture.server.status(of: paid) == "APPROVED")
            let left = try fixture.server.pay("20")
            #expect(try signet(fixture, "operations", "reject", left).code == .done)
            #expect(try fixture.server.status(of: left) == "REJECTED")
            let again = try signet(fixture, "operations", "approve", paid)
            #expect(again.code == .denied)
            #expect(again.told.contains("the operation has already been approved"))
            #expect(!again.told.contains("swipe your finger across the reader"))
            let none = try signet(fixture, "operations")
            #expect(none.text == "no operation awaits your decision\n" && none.told == "")
        }

        @Test("says what prevents it: server unreachable, key removed, unknown id")
        func refusals() async throws {
            let fixture = try await fixture()
            let id = try fixture.server.pay("10")
            #expect(try signet(fixture, "operations").code == .done)
            let unknown = try signet(
                fixture, "operations", "show", String(repeating: "0a", count: 16))
            #expect(unknown.code == .denied && unknown.told.contains("there is no such operation"))
            try fixture.stopRelay()
            let away = try signet(fixture, "operations", "approve", id)
            #expect(
                away.code == .noService && away.told.contains("the request to the server failed: "))
            try fixture.startRelay()
            let registration = try #require(
                try fixture.server.registrations().first?["registration"] as? String)
            try fixture.server.ask("POST", "/v1/registrations/\(registration)/remove", [:])
            let removed = try signet(fixture, "operations")
            #expect(removed.code == .denied, "\(removed.told)")
            #expect(removed.told.contains("the key here was destroyed"))
            let nowhere = try signet(fixture, "operations")
            #expect(
                nowhere.code == .denied && nowhere.told.contains("is not registered at any server"))
        }

        @Test("a MAC token's header is accepted by the server, for exactly that request")
        func header() async throws {
            let fixture = try await fixture()
            let added = try signet(fixture, "mac-token", "add", fixture.server.url, "cron")
            #expect(added.code == .done && added.text.contains("is stored, and valid until"))
            let made = try signet(
                fixture, "mac-token", "header", "cron", "GET", "https://shop.example/v1/payments")
            #expect(made.code == .done && made.told == "")
            let header = String(made.text.dropFirst("Authorization: ".count).dropLast())
            #expect(try fixture.verdict(header, "PUT") == "refused")
            #expect(try fixture.verdict(header) == nil)
            #expect(try fixture.verdict(header) == "replayed")
            let removed = try signet(fixture, "mac-token", "remove", "cron")
            #expect(removed.code == .done)
            #expect(try signet(fixture, "mac-token", "list").text.contains("root has no MAC token"))
        }
    }
}
