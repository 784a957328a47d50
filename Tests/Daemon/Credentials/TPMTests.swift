// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

extension DaemonTests {
    @Suite("keys in the TPM") struct TPMTests {
        private static let name = Person.daemon.account
        private let tpm: SoftwareTPM

        init() throws { tpm = try SoftwareTPM() }

        /// A daemon on the TPM, with one finger enrolled.
        private func fixture(
            kind: String = "tpm", tcti: String? = nil, _ more: String = "", enrolled: Bool = true
        ) throws -> DaemonFixture {
            try .onTPM(tcti ?? tpm.tcti, kind: kind, more, enrolled: enrolled)
        }

        @Test("a touch signs with a key of the TPM, and leaves nothing in it")
        func touch() throws {
            let fixture = try fixture()
            for challenge in 1...3 as ClosedRange<UInt8> {
                let answer = try fixture.login(.daemon, with: "one", challenge: challenge)
                #expect(answer.assertion != nil)
            }
            #expect(try fixture.status(of: .daemon).vault == Bytes("tpm".utf8))
            #expect(try fixture.login(.daemon, with: "other").reason == .noMatch)
            try fixture.restart()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            // After the stop nothing is under way any more.
            try fixture.restart()
            #expect(try tpm.transientHandles.isEmpty)
            #expect(try tpm.loadedSessions.isEmpty)
        }

        @Test("between touch and signature the TPM is asked for the signature only")
        func commands() throws {
            let bus = try TPMInterposer(tpm)
            let fixture = try fixture(tcti: bus.tcti)
            bus.forget()
            let client = try fixture.client()
            try client.send(.login(.daemon, challenge: 1, tries: 1))
            try client.wait(for: .touch)
            try bus.first("a policy") { exchanges in
                exchanges.contains { $0.code == .policyAuthValue && $0.answer != nil } ? () : nil
            }
            let before = bus.exchanges.count
            try fixture.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            let after = bus.exchanges.dropFirst(before).map(\.code)
            #expect(after.filter { $0 != .flushContext }.prefix(2) == [.sign])
        }

        @Test(
            "a missing, silent or replaced TPM is reported, and works again without loss on its return"
        )
        func troubles() throws {
            let fixture = try fixture()
            try tpm.stop()
            try denied(fixture, .vaultUnavailable)
            try tpm.start()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)

            tpm.suspend()
            try denied(fixture, .vaultUnavailable)
            tpm.resume()
            try fixture.restart()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)

            try tpm.enterLockout()
            #expect(
                try fixture.login(.daemon, with: "one").assertion != nil, "it needs no unlocking")
            try tpm.leaveLockout()

            let filling = try tpm.fillSlots() + tpm.fillSessions()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil, "what is stale goes")
            for handle in filling { try? tpm.flush(handle) }

            try tpm.restart()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("after a TPM was cleared, root trusts it, and the account enrols its fingers again")
        func cleared() throws {
            let fixture = try fixture()
            try tpm.clear()
            try denied(fixture, .vaultUnavailable)
            #expect(try fixture.status(of: .daemon).refusal?.reason == .vaultUnavailable)
            #expect(try fixture.ask(.enable(account: Self.name)).reason == .vaultUnavailable)
            let stranger = try fixture.client(.daemon).ask(.trustVault)
            #expect(stranger.reason == .notPermitted)
            let trusted = try fixture.client()
            try trusted.send(.trustVault)
            #expect(try trusted.last().done != nil)
            #expect(trusted.heard.contains { $0.own(VaultAnswer.self) != nil })
            let lost = try #require(
                try fixture.ask(.login(.daemon, challenge: 9, tries: 1)).denial)
            #expect(lost.reason == .invalidated && lost.cause == .tpmExchanged)
            #expect(try fixture.status(of: .daemon).cause == .tpmExchanged)
            #expect(try fixture.ask(.enable(account: Self.name)).reason == .printsDamaged)
            #expect(try fixture.status(of: .daemon).damaged == 1)
            #expect(try fixture.ask(.delete(account: Self.name, finger: nil)).done != nil)
            #expect(try fixture.enrol(.daemon, as: "two").done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "two").assertion != nil)
        }

        @Test("a TPM with a faked root key gets no key and no secret")
        func faked() throws {
            let bus = try TPMInterposer(tpm)
            let fixture = try fixture(tcti: bus.tcti)
            // Unless it has become idle since the enrolment, the daemon still uses the root key that
            // it checked then. A bus that fails ends that connection.
            bus.setRule(at: .command) { _ in .drop }
            try denied(fixture, .vaultUnavailable)
            bus.removeRules()
            bus.fakePrimary(with: try AttackerKey())
            bus.forget()
            try denied(fixture, .vaultUnavailable)
            #expect(bus.count(of: .startAuthSession) == 0)
            #expect(try fixture.ask(.enable(account: Self.name)).reason == .vaultUnavailable)
            #expect(bus.count(of: .startAuthSession) == 0)
            bus.removeRules()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("keys bound to PCRs do not open on another platform, and can be made again for it")
        func registers() throws {
            let fixture = try fixture("pcrs = 16, 23")
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try tpm.extend(pcr: 16)
            try denied(fixture, .platformChanged)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try tpm.restart()
            try denied(fixture, .platformChanged)
        }

        @Test("a key that another credential was swapped in for is destroyed, and nothing opens")
        func swapped() throws {
            let fixture = try fixture()
            let old = try Layout.read(fixture.file("credential", of: .daemon))
            #expect(try fixture.ask(.enable(account: Self.name)).done != nil)
            let new = String(
                decoding: try Layout.read(fixture.file("credential", of: .daemon)), as: UTF8.self)
            let sealed = String(decoding: old, as: UTF8.self).split(separator: "\n")
                .first { $0.hasPrefix("sealed: ") }
            let mixed = new.split(separator: "\n").map {
                $0.hasPrefix("sealed: ") ? sealed ?? $0 : $0
            }
            try DaemonFixture.write(
                mixed.joined(separator: "\n") + "\n", to: fixture.file("credential", of: .daemon),
                mode: 0o600)
            let answer = try fixture.login(.daemon, with: "one")
            #expect(answer.reason == .invalidated && answer.denial?.cause == .credentialDamaged)
        }

        @Test("auto uses the TPM if it works, and files if there is none")
        func automatic() throws {
            #expect(try fixture(kind: "auto").status(of: .daemon).vault == Bytes("tpm".utf8))
            try tpm.stop()
            let without = try fixture(kind: "auto")
            #expect(try without.status(of: .daemon).vault == Bytes("file".utf8))
            #expect(try without.login(.daemon, with: "one").assertion != nil)
            let strict = try fixture(enrolled: false)
            #expect(try strict.enrol(.daemon, as: "one").reason == .vaultUnavailable)
            let unknown = try fixture(kind: "auto", tcti: "cmd:/bin/sh")
            #expect(try unknown.status(of: .daemon).vault == Bytes("file".utf8))
        }

        @Test("a key moves to the other vault and back, with the password alone")
        func migrates() throws {
            let fixture = try fixture(kind: "auto")
            for vault in ["file", "tpm", "tpm", "file"] {
                let request = Request.migrate(account: Self.name, vault: Bytes(vault.utf8))
                #expect(try answer(fixture, request, "wrong").reason == .noPassword)
                #expect(try answer(fixture, request, "right").done?.state == .valid)
                #expect(try fixture.status(of: .daemon).vault == Bytes(vault.utf8))
                #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            }
            let nowhere = Request.migrate(account: Self.name, vault: Bytes("cloud".utf8))
            #expect(try fixture.ask(nowhere).reason == .badRequest)
            try tpm.stop()
            let gone = Request.migrate(account: Self.name, vault: Bytes("tpm".utf8))
            #expect(try fixture.ask(gone).reason == .vaultUnavailable)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil, "the old key stays")
        }

        /// The account's own request, with a password.
        private func answer(
            _ fixture: DaemonFixture, _ request: Request, _ password: String
        ) throws -> Answer {
            let client = try fixture.client(.daemon)
            try client.send(request)
            while let answer = try client.next() {
                if case .passwordWanted = answer {
                    try client.send(.password(Bytes(password.utf8)))
                } else {
                    return answer
                }
            }
            throw ClientFault.ended(client.heard)
        }

        /// A login that the TPM keeps from succeeding: it is told without a touch.
        private func denied(_ fixture: DaemonFixture, _ reason: DenialReason) throws {
            #expect(try fixture.ask(.login(.daemon, challenge: 9, tries: 1)).reason == reason)
            #expect(try fixture.status(of: .daemon).state == .valid, "nothing is lost")
        }
    }
}
