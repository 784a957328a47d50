// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import RelyingPartySupport
import TestSupport
import Testing

extension SecondDaemonTests {
    /// Registrations where the server wants proof of the TPM: the daemon, its relay, the server and
    /// a certified TPM, all real.
    @Suite("Registered with proof of its TPM, a device")
    struct AttestedServerTests {
        private let authority: TPMAuthority
        private let firmware: FirmwareLog

        init() throws {
            authority = try TPMAuthority()
            firmware = .secure
        }

        @Test("is attested, with secure boot, and has hwk in its tokens")
        func attested() async throws {
            let tpm = try certifiedTPM()
            let server = try await LiveServer.start(tpmAuthorities: authority.certificatePath)
            try server.administer(
                "application", "set", "shop", "--keys", "attested", "--secure-boot", "attested")
            let stage = try stage(at: server, on: tpm)
            let answer = try stage.enable()
            #expect(answer.enabled != nil, "\(answer)")
            let registration = try #require(try server.registrations().first)
            #expect(registration["attested"] as? [String] == ["key", "secure-boot"])
            #expect(try stage.logIn().token != nil)
            #expect(try tpm.transientHandles.isEmpty && tpm.loadedSessions.isEmpty)

            // Again, in the next boot: nothing of the first one is needed.
            try tpm.restart()
            try tpm.boot(with: firmware)
            #expect(
                try stage.daemon.ask(
                    .serverDisable(account: Person.daemon.account, server: stage.url)
                ).done != nil)
            #expect(try stage.enable().enabled != nil)
        }

        @Test("is attested as far as it can where the server only accepts proofs")
        func voluntary() async throws {
            let server = try await LiveServer.start(
                severalDevices: true, tpmAuthorities: try madeAuthority())
            // No log: the key alone.
            let tpm = try SoftwareTPM(certifiedBy: authority)
            let stage = try ServerFixture(server, configuration: vault(tpm))
            #expect(try stage.enable().enabled != nil)
            // A TPM of another maker, one without a maker, and no TPM: registered, unproven.
            for other in [
                try SoftwareTPM(certifiedBy: try TPMAuthority()), try SoftwareTPM(), nil,
            ] {
                let stage = try ServerFixture(
                    server, configuration: other.map(vault) ?? "[vault]\nkind = file\n")
                #expect(try stage.enable().enabled != nil)
            }
            let attested = try server.registrations().map { $0["attested"] as? [String] ?? [] }
            #expect(attested.filter { $0 == ["key"] }.count == 1)
            #expect(attested.filter(\.isEmpty).count == 3)
        }

        @Test("is told before a touch why it cannot be registered where proof is required")
        func impossible() async throws {
            let server = try await LiveServer.start(tpmAuthorities: try madeAuthority())
            try server.administer("application", "set", "shop", "--keys", "attested")
            let code = try server.code()
            for (tpm, why) in [
                (nil, Detail.keysInFiles), (try SoftwareTPM(), Detail.noEndorsement),
            ] {
                let stage = try ServerFixture(
                    server, configuration: tpm.map(vault) ?? "[vault]\nkind = file\n")
                let answer = try stage.daemon.ask(enable(at: server, code: code))
                #expect(answer.reason == .notAttestable, "\(answer)")
                #expect(answer.denial?.subject == why.bytes)
            }
            // Its maker is unknown to the server, which the server says after the touch.
            let foreign = try SoftwareTPM(certifiedBy: try TPMAuthority())
            let stage = try ServerFixture(server, configuration: vault(foreign))
            let refused = try stage.enable(code: code)
            #expect(refused.denial?.subject == Bytes("attestation-refused".utf8), "\(refused)")
            #expect(try stage.list().isEmpty && stage.files().isEmpty)

            // Secure boot without a log to prove it with.
            try server.administer(
                "application", "set", "shop", "--keys", "any", "--secure-boot", "attested")
            let tpm = try SoftwareTPM(certifiedBy: authority)
            let scratch = try Scratch()
            try scratch.write("SecureBoot", [6, 0, 0, 0, 1])
            let plain = try ServerFixture(
                server, configuration: vault(tpm),
                arguments: [
                    "--event-log", scratch.at("none"), "--secure-boot", scratch.at("SecureBoot"),
                ], keeping: scratch)
            let unbooted = try plain.daemon.ask(enable(at: server, code: try server.code()))
            #expect(unbooted.reason == .notAttestable, "\(unbooted)")
            #expect(unbooted.denial?.subject == Detail.noEventLog.bytes)
        }

        @Test("is not registered with a code that is not good, and is not asked for a touch then")
        func badCode() async throws {
            let server = try await LiveServer.start()
            let stage = try ServerFixture(server)
            let code = "00000-00000-00000-00000"
            let answer = try stage.daemon.ask(enable(at: server, code: code))
            #expect(answer.reason == .activationRefused, "\(answer)")
        }

        private func enable(at server: LiveServer, code: String) -> Request {
            .serverEnable(
                ServerEnableRequest(
                    account: Person.daemon.account, server: ServerURL(server.url),
                    code: Bytes(code.utf8)))
        }

        private func vault(_ tpm: SoftwareTPM) -> String {
            "[vault]\nkind = tpm\ntpm = \(tpm.tcti)\n"
        }

        /// The authority's file, which is made with the first TPM that it certifies.
        private func madeAuthority() throws -> String {
            _ = try SoftwareTPM(certifiedBy: authority)
            return authority.certificatePath
        }

        private func certifiedTPM() throws -> SoftwareTPM {
            let tpm = try SoftwareTPM(certifiedBy: authority)
            try tpm.boot(with: firmware)
            return tpm
        }

        /// A machine whose firmware has left a log.
        private func stage(at server: LiveServer, on tpm: SoftwareTPM) throws -> ServerFixture {
            let scratch = try Scratch()
            try scratch.write("log", firmware.bytes)
            // Four bytes of attributes, and the value.
            try scratch.write("SecureBoot", [6, 0, 0, 0, 1])
            return try ServerFixture(
                server, configuration: vault(tpm),
                arguments: [
                    "--event-log", scratch.at("log"), "--secure-boot", scratch.at("SecureBoot"),
                ], keeping: scratch)
        }
    }
}
