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
        private func stage() async throws -> ServerFixture {
            let server = try await LiveServer.start()
            try server.makeTemplate()
            let stage = try ServerFixture(server)
            // Root about root itself: the test is root, and the kernel says so.
            try stage.fixture.enrol(.root, as: "two")
            #expect(try stage.enable(.root, with: "two").enabled != nil)
            return stage
        }

        /// Runs the command, and touches when it says so; `told` is what went to standard error.
        private func signet(
            _ stage: ServerFixture, _ words: String...
        ) throws -> (code: ExitCode, text: String, told: String) {
            let output = Mutex<Bytes>([])
            let errors = Mutex<String>("")
            var surroundings = CommandEnvironment()
            surroundings.socketPath = stage.fixture.socket
            surroundings.columns = { nil }
            surroundings.output = { bytes in
                output.withLock { $0 += bytes }
                return true
            }
            surroundings.release = { bytes in
                output.withLock { $0 += bytes }
                return true
            }
            let reader = stage.fixture.text
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
            let stage = try await stage()
            let paid = try stage.server.pay("10")
            let first = try signet(stage, "operations")
            #expect(first.code == .done, "\(first.told)")
            #expect(
                first.told.hasPrefix(
                    "swipe your finger across the reader to allow operations to be listed"))
            #expect(first.text.contains(paid.prefix(8)) && first.text.contains("pay 10 EUR…"))
            let shown = try signet(stage, "operations", "show", String(paid.prefix(6)))
            #expect(shown.told == "" && shown.text.hasSuffix("  | pay 10 EUR\n  | to Bob\n"))
            let approved = try signet(stage, "operations", "approve", String(paid.prefix(6)))
            #expect(approved.code == .done)
            #expect(approved.text.contains("is approved") && approved.text.contains("  | to Bob"))
            #expect(
                approved.told
                    == """
                    swipe your finger across the reader to approve operation \(paid.prefix(8)) of \
                    \(stage.server.url), or press Ctrl-C to stop
                    asking \(stage.server.url)

                    """)
            #expect(try stage.server.status(of: paid) == "APPROVED")
            let left = try stage.server.pay("20")
            #expect(try signet(stage, "operations", "reject", left).code == .done)
            #expect(try stage.server.status(of: left) == "REJECTED")
            let again = try signet(stage, "operations", "approve", paid)
            #expect(again.code == .denied)
            #expect(again.told.contains("the operation has already been approved"))
            #expect(!again.told.contains("swipe your finger across the reader"))
            let none = try signet(stage, "operations")
            #expect(none.text == "no operation awaits your decision\n" && none.told == "")
        }

        @Test("says what stands in the way: server away, key removed, nothing of that id")
        func refusals() async throws {
            let stage = try await stage()
            let id = try stage.server.pay("10")
            #expect(try signet(stage, "operations").code == .done)
            let unknown = try signet(
                stage, "operations", "show", String(repeating: "0a", count: 16))
            #expect(unknown.code == .denied && unknown.told.contains("there is no such operation"))
            try stage.stopRelay()
            let away = try signet(stage, "operations", "approve", id)
            #expect(
                away.code == .noService && away.told.contains("the request to the server failed: "))
            try stage.startRelay()
            let registration = try #require(
                try stage.server.registrations().first?["registration"] as? String)
            try stage.server.ask("POST", "/v1/registrations/\(registration)/remove", [:])
            let removed = try signet(stage, "operations")
            #expect(removed.code == .denied, "\(removed.told)")
            #expect(removed.told.contains("the key here was destroyed"))
            let nowhere = try signet(stage, "operations")
            #expect(
                nowhere.code == .denied && nowhere.told.contains("is not registered at any server"))
        }

        @Test("a MAC token's header is what the server takes, for just that request")
        func header() async throws {
            let stage = try await stage()
            let added = try signet(stage, "mac-token", "add", stage.server.url, "cron")
            #expect(added.code == .done && added.text.contains("is stored, and valid until"))
            let made = try signet(
                stage, "mac-token", "header", "cron", "GET", "https://shop.example/v1/payments")
            #expect(made.code == .done && made.told == "")
            let header = String(made.text.dropFirst("Authorization: ".count).dropLast())
            #expect(try stage.verdict(header, "PUT") == "refused")
            #expect(try stage.verdict(header) == nil)
            #expect(try stage.verdict(header) == "replayed")
            let removed = try signet(stage, "mac-token", "remove", "cron")
            #expect(removed.code == .done)
            #expect(try signet(stage, "mac-token", "list").text.contains("root has no MAC token"))
        }
    }
}
