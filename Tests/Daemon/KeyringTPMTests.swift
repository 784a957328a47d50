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
        private func bench() throws -> DaemonBench {
            let bench = try DaemonBench.withShadow(
                configuration: "[vault]\nkind = auto\ntpm = \(tpm.tcti)\n")
            try bench.enrol(.daemon, as: "one")
            try bench.give()
            return bench
        }

        @Test("a touch opens it, it goes where the credential goes, and nothing stays in the TPM")
        func released() throws {
            let bench = try bench()
            #expect(try bench.status(of: .daemon).vault == Bytes("tpm".utf8))
            for vault in ["tpm", "file", "tpm"] {
                let request = Request.migrate(
                    account: Person.daemon.bytes, vault: Bytes(vault.utf8))
                #expect(try bench.ask(request).done?.state == .valid)
                let record = try String(
                    decoding: Layout.read(bench.file("keyring", of: .daemon)), as: UTF8.self)
                #expect(record.contains("vault: \(vault)\n"))
                #expect(try bench.opened(by: Self.login) == "right")
            }
            try bench.restart()
            #expect(try tpm.transientHandles.isEmpty && tpm.loadedSessions.isEmpty)
        }

        @Test("a TPM that was cleared opens it no more: the password is not released")
        func cleared() throws {
            let bench = try bench()
            let file = Request.migrate(account: Person.daemon.bytes, vault: Bytes("file".utf8))
            let sealed = try Layout.read(bench.file("keyring", of: .daemon))
            #expect(try bench.ask(file).done?.state == .valid)
            // The credential is in a file; the password's key stays in the TPM.
            try DaemonBench.write(sealed, to: bench.file("keyring", of: .daemon))
            #expect(try bench.opened(by: Self.login) == "right")
            try tpm.clear()
            #expect(try bench.opened(by: Self.login) == nil)
        }

        @Test("a password that is changed while the fingers are closed is not kept on a guess")
        func changedWhileClosed() throws {
            let bench = try bench()
            try bench.restart { try tpm.stop() }
            #expect(try bench.report("right").reason == .fingersClosed)
            try tpm.start()
            #expect(try bench.keyring() == .passwordChanged)
            #expect(try bench.opened(by: Self.login) == nil)
        }
    }
}
