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
            let fixture = try ServerFixture(try await LiveServer.start())
            let enabled = try #require(try fixture.enable().enabled)
            #expect(enabled.account == "alice" && enabled.progress == .active)
            let registered = try #require(try fixture.server.registrations().first)
            #expect(registered["status"] as? String == "ACTIVE")
            #expect(
                registered["fingerprint"] as? String
                    == String(decoding: enabled.fingerprint, as: UTF8.self))
            #expect(registered["key"] as? String == "file")
            for _ in 0..<2 {
                let answer = try fixture.logIn()
                let token = try #require(answer.token, "\(answer)")
                let payload = try claims(of: token.accessToken)
                #expect(payload.contains(#""sub":"alice""#), "\(payload)")
            }
            #expect(try fixture.list().map(\.state) == [.good])
            // Each use of the key has its receipt in the account's chain.
            let log = try fixture.daemon.receipts(of: .daemon)
            try log.verify()
        }

        @Test("shows the name that the device gave, as this device does")
        func named() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            let name = try #require(DeviceName(Bytes("Alice laptop (2)".utf8)))
            let code = try fixture.server.code()
            let enabled = try fixture.daemon.touchEach(
                .serverEnable(
                    ServerEnableRequest(
                        account: Person.daemon.account, server: fixture.url,
                        code: Bytes(code.utf8), deviceName: name)), with: "one")
            #expect(enabled.enabled != nil, "\(enabled)")
            let registered = try #require(try fixture.server.registrations().first)
            #expect(registered["deviceName"] as? String == "Alice laptop (2)")
            #expect(try fixture.list().map(\.deviceName) == [name])
            try fixture.daemon.restart()
            #expect(try fixture.list().map(\.deviceName) == [name])
        }

        @Test("gets nothing of a finger that does not match, and the code stays good")
        func wrongFinger() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            let code = try fixture.server.code()
            #expect(try fixture.enable(with: "two", code: code).reason == .noMatch)
            #expect(fixture.files().isEmpty)
            #expect(try fixture.enable(code: code).enabled != nil)
            #expect(try fixture.logIn(with: "two").reason == .noMatch)
            #expect(try fixture.logIn().token != nil)
        }

        @Test("refuses a code that was used, and nothing is kept")
        func usedCode() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            let code = try fixture.server.code()
            #expect(try fixture.enable(code: code).enabled != nil)
            #expect(try fixture.enable(code: code).reason == .knownServer)
            try fixture.daemon.enrol(.bin, as: "two")
            #expect(try fixture.enable(.bin, with: "two", code: code).reason == .activationRefused)
            #expect(fixture.files(of: .bin).isEmpty)
        }

        @Test("is not asked where the touch is taken back")
        func cancelled() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            let client = try fixture.daemon.client(.daemon)
            try client.send(fixture.login())
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try fixture.logIn().token != nil)
        }

        @Test("serves an account itself, and neither another nor root in its place")
        func others() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            for person in [Person.bin, .root] {
                let client = try fixture.daemon.client(person)
                #expect(try client.ask(fixture.login()).reason == .notPermitted)
            }
            try fixture.daemon.enrol(.bin, as: "two")
            #expect(try fixture.logIn(.bin, with: "two").reason == .unknownServer)
        }

        @Test("hears nothing from a key of other fingers, which is destroyed")
        func fingersChanged() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "two")
            #expect(try fixture.logIn().reason == .serverKeyInvalidated)
            #expect(try fixture.list().map(\.state) == [.invalidated])
            let name = try #require(fixture.files().first)
            let record = try Layout.read(fixture.daemon.file("servers/\(name)", of: .daemon))
            #expect(String(decoding: record, as: UTF8.self).contains("sealings: 0"))
            // A new code is the way on.
            #expect(try fixture.enable().enabled != nil)
            #expect(try fixture.logIn().token != nil)
            #expect(fixture.files().count == 1)
        }

        @Test("reports a replaced device, which destroys its key")
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
            let answer = try first.daemon.touchEach(
                .serverEnable(
                    ServerEnableRequest(
                        account: Person.daemon.account, server: ServerURL(other.url),
                        code: Bytes(try other.code().utf8))), with: "one")
            #expect(answer.reason == .serverUnreachable)
            #expect(try first.list().count == 1)
            #expect(try first.logIn().token != nil)
        }

        @Test("is notified later if it cannot be reached, and the key is useless until then")
        func disabled() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            try fixture.stopRelay()
            #expect(try fixture.logIn().reason == .serverUnreachable)
            let disable = Request.serverDisable(account: Person.daemon.account, server: fixture.url)
            #expect(try fixture.daemon.ask(disable).done?.state == .disabled)
            #expect(try fixture.list().map(\.state) == [.removing])
            #expect(try fixture.logIn().reason == .unknownServer)
            try fixture.startRelay()
            // Any request about servers has it told, and is not held up by it.
            #expect(try fixture.list().map(\.state) == [.removing])
            try awaitNoFiles(in: fixture.daemon.file("servers", of: .daemon))
            #expect(try fixture.list().isEmpty)
            let status = try fixture.server.registrations().first?["status"] as? String
            #expect(status == "REMOVED")
        }

        @Test("is not said to know what a key of other fingers could not report")
        func disabledUnasked() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "two")
            #expect(try fixture.list().map(\.state) == [.invalidated])
            let disable = Request.serverDisable(account: Person.daemon.account, server: fixture.url)
            #expect(try fixture.daemon.ask(disable).done?.state == .invalidated)
            #expect(fixture.files().isEmpty)
            let status = try fixture.server.registrations().first?["status"] as? String
            #expect(status == "ACTIVE")
            #expect(try fixture.daemon.ask(disable).reason == .unknownServer)
        }

        @Test("is notified by the next start of the daemon, without a request")
        func disabledBeforeStart() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            try fixture.stopRelay()
            let disable = Request.serverDisable(account: Person.daemon.account, server: fixture.url)
            #expect(try fixture.daemon.ask(disable).done?.state == .disabled)
            try fixture.startRelay()
            try fixture.daemon.restart()
            try awaitNoFiles(in: fixture.daemon.file("servers", of: .daemon))
            let status = try fixture.server.registrations().first?["status"] as? String
            #expect(status == "REMOVED")
        }

        @Test("needs no notice of a key whose fingers have changed since it was removed")
        func disabledAndChanged() async throws {
            let fixture = try ServerFixture(try await LiveServer.start())
            try fixture.enable()
            try fixture.stopRelay()
            let disable = Request.serverDisable(account: Person.daemon.account, server: fixture.url)
            #expect(try fixture.daemon.ask(disable).done?.state == .disabled)
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "two")
            #expect(try fixture.list().isEmpty && fixture.files().isEmpty)
        }

        @Test("has its key in the TPM if that is the vault, and says so")
        func inTPM() async throws {
            let tpm = try SoftwareTPM()
            let server = try await LiveServer.start()
            let fixture = try ServerFixture(
                server, configuration: "[vault]\nkind = tpm\ntpm = \(tpm.tcti)\n")
            #expect(try fixture.enable().enabled != nil)
            #expect(try server.registrations().first?["key"] as? String == "tpm")
            for _ in 0..<2 { #expect(try fixture.logIn().token != nil) }
            try fixture.daemon.restart()
            #expect(try fixture.logIn().token != nil)
            #expect(try fixture.logIn(with: "two").reason == .noMatch)
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "two")
            #expect(try fixture.logIn().reason == .serverKeyInvalidated)
            try fixture.daemon.restart()
            #expect(try tpm.transientHandles.isEmpty && tpm.loadedSessions.isEmpty)
        }

        @Test("waits until the key has been compared if its policy says so")
        func pending() async throws {
            let fixture = try ServerFixture(try await LiveServer.start(commitRequired: true))
            let enabled = try #require(try fixture.enable().enabled)
            #expect(enabled.progress == .pendingCommit)
            #expect(try fixture.logIn().denial?.subject == Bytes("conflict".utf8))
            let registration = try #require(
                try fixture.server.registrations().first?["registration"] as? String)
            try fixture.server.ask(
                "POST", "/v1/registrations/\(registration)/commit",
                ["fingerprint": String(decoding: enabled.fingerprint, as: UTF8.self)])
            #expect(try fixture.logIn().token != nil)
        }

        @Test(
            "is not asked for an invalid URL or code",
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
