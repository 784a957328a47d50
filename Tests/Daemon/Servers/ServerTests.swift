// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("A server as relying party")
    struct ServerTests {
        @Test("knows the device after a touch and a code, and gives a token for each touch")
        func wholeWay() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            let enabled = try #require(try stage.enable().enabled)
            #expect(enabled.account == "alice" && enabled.progress == .active)
            let registered = try #require(try stage.server.registrations().first)
            #expect(registered["status"] as? String == "ACTIVE")
            #expect(
                registered["fingerprint"] as? String
                    == String(decoding: enabled.fingerprint, as: UTF8.self))
            #expect(registered["key"] as? String == "file")
            for _ in 0..<2 {
                let answer = try stage.logIn()
                let token = try #require(answer.token, "\(answer)")
                let payload = try claims(of: token.accessToken)
                #expect(payload.contains(#""sub":"alice""#), "\(payload)")
            }
            #expect(try stage.list().map(\.state) == [.good])
            // Each use of the key has its receipt in the account's chain.
            let log = try stage.fixture.receipts(of: .daemon)
            try log.verify()
        }

        @Test("gets nothing of a finger that does not match, and the code stays good")
        func wrongFinger() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            let code = try stage.server.code()
            #expect(try stage.enable(with: "two", code: code).reason == .noMatch)
            #expect(stage.files().isEmpty)
            #expect(try stage.enable(code: code).enabled != nil)
            #expect(try stage.logIn(with: "two").reason == .noMatch)
            #expect(try stage.logIn().token != nil)
        }

        @Test("refuses a code that was used, and nothing is kept")
        func usedCode() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            let code = try stage.server.code()
            #expect(try stage.enable(code: code).enabled != nil)
            #expect(try stage.enable(code: code).reason == .knownServer)
            try stage.fixture.enrol(.bin, as: "two")
            #expect(try stage.enable(.bin, with: "two", code: code).reason == .activationRefused)
            #expect(stage.files(of: .bin).isEmpty)
        }

        @Test("is not asked where the touch is taken back")
        func cancelled() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            let client = try stage.fixture.client(.daemon)
            try client.send(stage.login())
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try stage.logIn().token != nil)
        }

        @Test("serves an account itself, and neither another nor root in its place")
        func others() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            for person in [Person.bin, .root] {
                let client = try stage.fixture.client(person)
                #expect(try client.ask(stage.login()).reason == .notPermitted)
            }
            try stage.fixture.enrol(.bin, as: "two")
            #expect(try stage.logIn(.bin, with: "two").reason == .unknownServer)
        }

        @Test("hears nothing from a key of other fingers, which is destroyed")
        func fingersChanged() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            try stage.fixture.enrol(.daemon, .leftIndex, as: "two")
            #expect(try stage.logIn().reason == .serverKeyInvalidated)
            #expect(try stage.list().map(\.state) == [.invalidated])
            let name = try #require(stage.files().first)
            let record = try Layout.read(stage.fixture.file("servers/\(name)", of: .daemon))
            #expect(String(decoding: record, as: UTF8.self).contains("sealings: 0"))
            // A new code is the way on.
            #expect(try stage.enable().enabled != nil)
            #expect(try stage.logIn().token != nil)
            #expect(stage.files().count == 1)
        }

        @Test("tells a replaced device, which destroys its key")
        func replaced() async throws {
            let server = try await LiveServer.start()
            let first = try ServerFixture(server)
            try first.enable()
            let second = try ServerFixture(server)
            try second.enable()
            let answer = try first.logIn()
            #expect(answer.reason == .serverKeyReplaced, "\(answer)")
            #expect(first.files().isEmpty)
            #expect(try first.logIn().reason == .unknownServer)
            #expect(try second.logIn().token != nil)
        }

        @Test("has a key of its own")
        func twoServers() async throws {
            let first = try ServerFixture(try await LiveServer.start())
            let other = try await LiveServer.start()
            try first.enable()
            // The relay trusts the first server's authority alone: the other is not asked.
            let answer = try first.fixture.touchEach(
                .serverEnable(
                    ServerEnableRequest(
                        account: Person.daemon.account, server: ServerURL(other.url),
                        code: Bytes(try other.code().utf8))), with: "one")
            #expect(answer.reason == .serverUnreachable)
            #expect(try first.list().count == 1)
            #expect(try first.logIn().token != nil)
        }

        @Test("is told later where it cannot be reached, and the key is of no use until then")
        func disabled() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            try stage.stopRelay()
            #expect(try stage.logIn().reason == .serverUnreachable)
            let disable = Request.serverDisable(account: Person.daemon.account, server: stage.url)
            #expect(try stage.fixture.ask(disable).done?.state == .disabled)
            #expect(try stage.list().map(\.state) == [.removing])
            #expect(try stage.logIn().reason == .unknownServer)
            try stage.startRelay()
            // Any request about servers has it told, and is not held up by it.
            #expect(try stage.list().map(\.state) == [.removing])
            try awaitNoFiles(in: stage.fixture.file("servers", of: .daemon))
            #expect(try stage.list().isEmpty)
            let status = try stage.server.registrations().first?["status"] as? String
            #expect(status == "REMOVED")
        }

        @Test("is not said to know what a key of other fingers could not tell it")
        func disabledUnasked() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            try stage.fixture.enrol(.daemon, .leftIndex, as: "two")
            #expect(try stage.list().map(\.state) == [.invalidated])
            let disable = Request.serverDisable(account: Person.daemon.account, server: stage.url)
            #expect(try stage.fixture.ask(disable).done?.state == .invalidated)
            #expect(stage.files().isEmpty)
            let status = try stage.server.registrations().first?["status"] as? String
            #expect(status == "ACTIVE")
            #expect(try stage.fixture.ask(disable).reason == .unknownServer)
        }

        @Test("is told by the next start of the daemon, without anybody's asking")
        func disabledBeforeStart() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            try stage.stopRelay()
            let disable = Request.serverDisable(account: Person.daemon.account, server: stage.url)
            #expect(try stage.fixture.ask(disable).done?.state == .disabled)
            try stage.startRelay()
            try stage.fixture.restart()
            try awaitNoFiles(in: stage.fixture.file("servers", of: .daemon))
            let status = try stage.server.registrations().first?["status"] as? String
            #expect(status == "REMOVED")
        }

        @Test("has nothing to be told of a key whose fingers have changed since it was given up")
        func disabledAndChanged() async throws {
            let stage = try ServerFixture(try await LiveServer.start())
            try stage.enable()
            try stage.stopRelay()
            let disable = Request.serverDisable(account: Person.daemon.account, server: stage.url)
            #expect(try stage.fixture.ask(disable).done?.state == .disabled)
            try stage.fixture.enrol(.daemon, .leftIndex, as: "two")
            #expect(try stage.list().isEmpty && stage.files().isEmpty)
        }

        @Test("has its key in the TPM where that is the vault, and says so")
        func inTPM() async throws {
            let tpm = try SoftwareTPM()
            let server = try await LiveServer.start()
            let stage = try ServerFixture(
                server, configuration: "[vault]\nkind = tpm\ntpm = \(tpm.tcti)\n")
            #expect(try stage.enable().enabled != nil)
            #expect(try server.registrations().first?["key"] as? String == "tpm")
            for _ in 0..<2 { #expect(try stage.logIn().token != nil) }
            try stage.fixture.restart()
            #expect(try stage.logIn().token != nil)
            #expect(try stage.logIn(with: "two").reason == .noMatch)
            try stage.fixture.enrol(.daemon, .leftIndex, as: "two")
            #expect(try stage.logIn().reason == .serverKeyInvalidated)
            try stage.fixture.restart()
            #expect(try tpm.transientHandles.isEmpty && tpm.loadedSessions.isEmpty)
        }

        @Test("waits for somebody to compare the key where its policy says so")
        func pending() async throws {
            let stage = try ServerFixture(try await LiveServer.start(commitRequired: true))
            let enabled = try #require(try stage.enable().enabled)
            #expect(enabled.progress == .pendingCommit)
            #expect(try stage.logIn().denial?.subject == Bytes("conflict".utf8))
            let registration = try #require(
                try stage.server.registrations().first?["registration"] as? String)
            try stage.server.ask(
                "POST", "/v1/registrations/\(registration)/commit",
                ["fingerprint": String(decoding: enabled.fingerprint, as: UTF8.self)])
            #expect(try stage.logIn().token != nil)
        }

        @Test(
            "is not asked for a URL or a code that is none",
            arguments: [("http://h", "x"), ("https://h", "AAAAA-AAAAA-AAAAA-AAAAA")])
        func malformed(server: String, code: String) throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let request = ServerEnableRequest(
                account: Person.daemon.account, server: ServerURL(server), code: Bytes(code.utf8))
            #expect(try fixture.ask(.serverEnable(request)).reason == .badRequest)
        }

        /// The payload of a token, not verified here: tests of the server do.
        private func claims(of token: Bytes) throws -> String {
            let parts = token.split(separator: UInt8(ascii: "."))
            try #require(parts.count == 3)
            let payload = try #require(Base64.decode(Bytes(parts[1]), alphabet: .url))
            return String(decoding: payload, as: UTF8.self)
        }
    }
}
