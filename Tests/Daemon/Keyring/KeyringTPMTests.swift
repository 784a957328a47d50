// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("the login password for the keyring, in the TPM") struct KeyringTPMTests {
        private static let login = Request.login(.daemon, service: "login", wantsKeyring: true)
        private let tpm: SoftwareTPM

        init() throws { tpm = try SoftwareTPM() }

        /// A daemon on the TPM, with one finger enrolled and the password given.
        private func fixture() throws -> DaemonFixture {
            let fixture = try DaemonFixture.withShadow(
                configuration: "[vault]\nkind = auto\ntpm = \(tpm.tcti)\n")
            try fixture.enrol(.daemon, as: "one")
            try fixture.give()
            return fixture
        }

        @Test("a touch opens it, it moves with the credential, and nothing stays in the TPM")
        func released() throws {
            let fixture = try fixture()
            #expect(try fixture.status(of: .daemon).vault == Bytes("tpm".utf8))
            for vault in ["tpm", "file", "tpm"] {
                let request = Request.migrate(
                    account: Person.daemon.account, vault: Bytes(vault.utf8))
                #expect(try fixture.ask(request).done?.state == .valid)
                let record = try String(
                    decoding: Layout.read(fixture.file("keyring", of: .daemon)), as: UTF8.self)
                #expect(record.contains("vault: \(vault)\n"))
                #expect(try fixture.opened(by: Self.login) == "right")
            }
            try fixture.restart()
            #expect(try tpm.transientHandles.isEmpty && tpm.loadedSessions.isEmpty)
        }

        @Test("a TPM that was cleared opens it no more: the password is not released")
        func cleared() throws {
            let fixture = try fixture()
            let file = Request.migrate(account: Person.daemon.account, vault: Bytes("file".utf8))
            let sealed = try Layout.read(fixture.file("keyring", of: .daemon))
            #expect(try fixture.ask(file).done?.state == .valid)
            // The credential is in a file; the password's key stays in the TPM.
            try DaemonFixture.write(sealed, to: fixture.file("keyring", of: .daemon))
            #expect(try fixture.opened(by: Self.login) == "right")
            try tpm.clear()
            #expect(try fixture.opened(by: Self.login) == nil)
        }

        @Test("a password that is changed while the fingers are closed is not kept on a guess")
        func changedWhileClosed() throws {
            let fixture = try fixture()
            try fixture.restart { try tpm.stop() }
            #expect(try fixture.report("right").reason == .fingersClosed)
            try tpm.start()
            #expect(try fixture.keyring() == .passwordChanged)
            #expect(try fixture.opened(by: Self.login) == nil)
        }
    }
}
