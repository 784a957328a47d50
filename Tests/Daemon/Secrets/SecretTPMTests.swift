// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("secrets in the TPM") struct SecretTPMTests {
        private static let name = Person.daemon.account
        private let tpm: SoftwareTPM

        init() throws { tpm = try SoftwareTPM() }

        /// A daemon on the TPM, with one finger enrolled.
        private func fixture(_ more: String = "") throws -> DaemonFixture {
            let fixture = try DaemonFixture.onTPM(tpm.tcti, more)
            #expect(try fixture.status(of: .daemon).vault == Bytes("tpm".utf8))
            return fixture
        }

        private func migrate(_ fixture: DaemonFixture, to vault: String) throws {
            let request = Request.migrate(account: Self.name, vault: Bytes(vault.utf8))
            #expect(try fixture.ask(request).done?.state == .valid)
        }

        private func vaults(_ fixture: DaemonFixture) throws -> [Bytes] {
            try fixture.list().map(\.vault)
        }

        @Test("a touch releases them, nothing else does, and nothing stays in the TPM")
        func released() throws {
            let fixture = try fixture()
            let content = Bytes(repeating: 7, count: Limit.secret)
            #expect(try fixture.client().keep(content, "mail").done != nil)
            #expect(try vaults(fixture) == [Bytes("tpm".utf8)])
            for _ in 0..<3 { #expect(try fixture.get("mail", with: ["one"]) == content) }
            #expect(
                try fixture.touch(.get("mail"), with: ["two", "two", "two"]).reason == .noMatch)
            try fixture.restart()
            #expect(try fixture.get("mail", with: ["one"]) == content)
            #expect(try fixture.verifiedReceipts().count == 4)
            try fixture.restart()
            #expect(try tpm.transientHandles.isEmpty && tpm.loadedSessions.isEmpty)
        }

        @Test("they move with the credential, and open wherever they are")
        func migrated() throws {
            let fixture = try fixture()
            #expect(try fixture.client().keep([1, 2, 3], "mail").done != nil)
            for vault in ["file", "tpm", "file"] {
                try migrate(fixture, to: vault)
                #expect(try vaults(fixture) == [Bytes(vault.utf8)])
                #expect(try fixture.get("mail", with: ["one"]) == [1, 2, 3])
            }
            try tpm.stop()
            #expect(try fixture.get("mail", with: ["one"]) == [1, 2, 3])
        }

        @Test("a missing TPM withholds them and loses none, wherever the credential is")
        func troubles() throws {
            let fixture = try fixture()
            #expect(try fixture.client().keep([1], "mail").done != nil)
            try tpm.stop()
            #expect(try fixture.ask(.get("mail")).reason == .vaultUnavailable)
            #expect(try fixture.client().keep([2], "more").reason == .vaultUnavailable)
            #expect(
                try fixture.client().keep([2], "mail", replacing: true).reason == .vaultUnavailable)
            try migrate(fixture, to: "file")
            #expect(try vaults(fixture) == [Bytes("tpm".utf8)], "it could not move")
            #expect(try fixture.ask(.get("mail")).reason == .vaultUnavailable)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try tpm.start()
            #expect(try fixture.get("mail", with: ["one"]) == [1])
            #expect(try fixture.list().map(\.name) == [Bytes("mail".utf8)])
        }

        @Test("one that is bound to PCRs is reported when they change, and can be set again")
        func registers() throws {
            let fixture = try fixture("pcrs = 16")
            #expect(try fixture.client().keep([1], "mail").done != nil)
            try tpm.extend(pcr: 16)
            #expect(try fixture.ask(.get("mail")).reason == .platformChanged)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            let denied = try #require(
                try fixture.touch(.get("mail"), with: ["one"]).denial)
            #expect(denied.reason == .vaultUnavailable)
            #expect(String(decoding: denied.subject ?? [], as: UTF8.self).hasSuffix("set it again"))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil, "the key stays")
            #expect(try fixture.client().keep([2], "mail", replacing: true).done != nil)
            #expect(try fixture.get("mail", with: ["one"]) == [2])
        }

        @Test("what crosses the bus is neither the content nor its key")
        func bus() throws {
            let bus = try TPMInterposer(tpm)
            let fixture = try DaemonFixture(
                [.text], configuration: "[vault]\nkind = tpm\ntpm = \(bus.tcti)\n")
            #expect(try fixture.enrol(.daemon, as: "one").done?.state == .valid)
            let content = Bytes("kestrel-umbrella".utf8)
            #expect(try fixture.client().keep(content, "mail").done != nil)
            #expect(try fixture.get("mail", with: ["one"]) == content)
            #expect(bus.count(of: .unseal) == 1)
            #expect(!bus.exchanges.contains { $0.contains(Bytes("kestrel".utf8)) })
        }
    }
}
