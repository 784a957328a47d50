// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("fingerprints under a key of the TPM") struct TemplateKeyTests {
        private static let name = Person.daemon.account
        private let tpm: SoftwareTPM

        init() throws { tpm = try SoftwareTPM() }

        /// A daemon on the TPM, with one finger enrolled.
        private func fixture(
            _ more: String = "", on reader: DaemonFixture.Kind = .text
        ) throws -> DaemonFixture {
            try .onTPM(tpm.tcti, on: reader, more)
        }

        private func keys(_ fixture: DaemonFixture) -> [String] {
            let directory = fixture.state + "/private/template-keys"
            return Layout.entries(of: directory).map { "\(directory)/\($0)" }
        }

        private func isUnderTPM(_ fixture: DaemonFixture, _ person: Person = .daemon) throws -> Bool
        {
            let print = try #require(fixture.prints(of: person).first)
            return try Layout.read(print).starts(with: Array("signet-print: 2\nkey: ".utf8))
        }

        private func migrate(_ fixture: DaemonFixture, to vault: String) throws {
            let request = Request.migrate(account: Self.name, vault: Bytes(vault.utf8))
            #expect(try fixture.ask(request).done?.state == .valid)
        }

        @Test("they open after a restart, all with one key, and nothing stays in the TPM")
        func opens() throws {
            let fixture = try fixture()
            #expect(try fixture.enrol(.bin, as: "two").done?.state == .valid)
            #expect(try isUnderTPM(fixture) && isUnderTPM(fixture, .bin))
            #expect(keys(fixture).count == 1)
            try fixture.restart()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.login(.bin, with: "two").assertion != nil)
            #expect(try fixture.login(.bin, with: "one").reason == .noMatch)
            try fixture.restart()
            #expect(try tpm.transientHandles.isEmpty && tpm.loadedSessions.isEmpty)
        }

        @Test(
            "without the TPM they stay closed: this is reported, nothing is lost, and they open again"
        )
        func closed() throws {
            let fixture = try fixture()
            try fixture.restart { try tpm.stop() }
            let denied = try fixture.ask(.login(.daemon, challenge: 9, tries: 1))
            #expect(denied.reason == .fingersClosed)
            #expect(denied.denial?.subject?.isEmpty == false)
            let status = try fixture.status(of: .daemon)
            #expect(status.state == .valid && status.prints == 1 && status.damaged == 0)
            #expect(status.closed?.isEmpty == false && status.vault == Bytes("tpm".utf8))
            for request in [
                Request.list(account: Self.name),
                .verify(account: Self.name, timeoutMilliseconds: 0),
                .enable(account: Self.name), .delete(account: Self.name, finger: .rightIndex),
                .migrate(account: Self.name, vault: Bytes("file".utf8)), .get("mail"),
                .secretList(account: Self.name),
            ] {
                #expect(try fixture.ask(request).reason == .fingersClosed, "\(request)")
            }
            #expect(try fixture.enrol(.daemon, .leftIndex, as: "two").reason == .fingersClosed)
            #expect(try fixture.ask(.unlock(account: Self.name)).done != nil)
            try tpm.start()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.status(of: .daemon).closed == nil)
        }

        @Test("a TPM that hangs costs its time, no more, and no other account")
        func hangs() throws {
            let fixture = try fixture()
            try migrate(fixture, to: "file")
            #expect(try fixture.enrol(.bin, as: "two").done?.state == .valid)
            #expect(try !isUnderTPM(fixture) && isUnderTPM(fixture, .bin))
            try fixture.restart { tpm.suspend() }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.ask(.login(.bin, tries: 1)).reason == .fingersClosed)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            tpm.resume()
            try fixture.restart()
            #expect(try fixture.login(.bin, with: "two").assertion != nil)
        }

        @Test("without the TPM an account starts again: all fingers deleted, others enrolled")
        func startsAnew() throws {
            let fixture = try fixture()
            try fixture.restart { try tpm.stop() }
            #expect(try fixture.ask(.delete(account: Self.name, finger: nil)).done?.prints == 0)
            #expect(try fixture.status(of: .daemon).closed == nil)
            #expect(try fixture.enrol(.daemon, as: "three").done?.state == .valid)
            #expect(try fixture.status(of: .daemon).vault == Bytes("file".utf8))
            #expect(try !isUnderTPM(fixture))
            #expect(try fixture.login(.daemon, with: "three").assertion != nil)
            #expect(try fixture.login(.daemon, with: "one").reason == .noMatch)
        }

        @Test("a finger is not enrolled that cannot be compared with another account's")
        func compared() throws {
            let fixture = try fixture(on: .storage)
            try fixture.restart { try tpm.stop() }
            #expect(try fixture.enrol(.bin, as: "one").reason == .storage)
            try tpm.start()
            // This reader knows by itself that it keeps the finger already.
            let enrolment = Request.enroll(
                account: Person.bin.account, finger: .rightIndex, readerID: nil)
            let refused = try fixture.touch(enrolment, with: ["one", "one"])
            #expect(refused.reason == .fingerNotEnrolled)
        }

        @Test("those of unknown owners on a reader end no other account's login")
        func unknownOwner() throws {
            let fixture = try fixture(on: .storage)
            try migrate(fixture, to: "file")
            #expect(try fixture.enrol(.bin, as: "two", checking: true).done?.state == .valid)
            #expect(try !isUnderTPM(fixture) && isUnderTPM(fixture, .bin))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try tpm.clear()
            let trusted = try fixture.client()
            try trusted.send(.trustVault)
            #expect(try trusted.last().done != nil)
            let hints = fixture.state + "/private/stored"
            for hint in Layout.entries(of: hints) { _ = unsafe unlink("\(hints)/\(hint)") }
            let damaged = try fixture.ask(.login(.daemon, challenge: 9, tries: 1))
            #expect(damaged.reason == .storage, "\(damaged)")
            #expect(try fixture.status(of: .daemon).state == .valid, "nothing is lost")
        }

        @Test("prints on a reader whose fingers no longer open are deleted there with them")
        func onReader() throws {
            let fixture = try fixture(on: .storage)
            #expect(try fixture.enrol(.bin, as: "two", checking: true).done?.state == .valid)
            try migrate(fixture, to: "file")
            try tpm.clear()
            let trusted = try fixture.client()
            try trusted.send(.trustVault)
            #expect(try trusted.last().done != nil)
            let bin = Person.bin.account
            #expect(try fixture.ask(.delete(account: bin, finger: nil)).done?.prints == 0)
            // The reader itself refuses a finger that it keeps already.
            #expect(try fixture.enrol(.bin, as: "two", checking: true).done?.state == .valid)
            #expect(try fixture.login(.bin, with: "two").assertion != nil)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil, "others' stay")
        }

        @Test("after the TPM was cleared and trusted they are damaged, and can be enrolled again")
        func cleared() throws {
            let fixture = try fixture()
            try fixture.restart { try tpm.clear() }
            #expect(try fixture.ask(.login(.daemon, tries: 1)).reason == .fingersClosed)
            #expect(try fixture.status(of: .daemon).state == .valid, "nothing is lost yet")
            let trusted = try fixture.client()
            try trusted.send(.trustVault)
            #expect(try trusted.last().done != nil)
            #expect(try fixture.ask(.login(.daemon, tries: 1)).reason == .invalidated)
            #expect(try fixture.status(of: .daemon).damaged == 1)
            #expect(try fixture.ask(.delete(account: Self.name, finger: nil)).done?.prints == 0)
            #expect(try fixture.enrol(.daemon, as: "three").done?.state == .valid)
            #expect(try isUnderTPM(fixture))
            #expect(keys(fixture).count == 1, "the old one, which nothing names, is gone")
            try fixture.restart()
            #expect(try fixture.login(.daemon, with: "three").assertion != nil)
            #expect(try fixture.login(.daemon, with: "one").reason == .noMatch)
        }

        @Test("where PCRs are listed they open in the state that they were enrolled in, each")
        func registers() throws {
            let fixture = try fixture("pcrs = 16")
            try fixture.restart { try tpm.extend(pcr: 16) }
            #expect(try fixture.ask(.login(.daemon, tries: 1)).reason == .fingersClosed)
            #expect(try fixture.ask(.enable(account: Self.name)).reason == .fingersClosed)
            // The other state has a key of its own.
            #expect(
                try fixture.ask(.delete(account: Person.bin.account, finger: nil)).reason != nil)
            #expect(try fixture.ask(.delete(account: Self.name, finger: nil)).done != nil)
            #expect(try fixture.enrol(.daemon, as: "three").done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "three").assertion != nil)
            try fixture.restart()
            #expect(try fixture.login(.daemon, with: "three").assertion != nil)
            try fixture.restart { try tpm.restart() }
            #expect(try fixture.ask(.login(.daemon, tries: 1)).reason == .fingersClosed)
        }

        @Test("PCRs that are listed later bind them as well, once the credential is issued again")
        func listedLater() throws {
            let fixture = try fixture()
            let before = keys(fixture)
            try fixture.restart {
                try DaemonFixture.write(
                    "[vault]\nkind = tpm\ntpm = \(tpm.tcti)\npcrs = 16\n",
                    to: fixture.configuration)
            }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(keys(fixture).count == 1 && keys(fixture) != before)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try fixture.restart { try tpm.extend(pcr: 16) }
            #expect(try fixture.ask(.login(.daemon, tries: 1)).reason == .fingersClosed)
        }

        @Test("they move with the credential, and remain the enrolled fingers")
        func moves() throws {
            let fixture = try fixture()
            let generation = try fixture.status(of: .daemon).generation
            for vault in ["file", "tpm", "tpm", "file"] {
                try migrate(fixture, to: vault)
                #expect(try isUnderTPM(fixture) == (vault == "tpm"))
                #expect(try fixture.login(.daemon, with: "one").assertion != nil)
                try fixture.restart()
                #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            }
            #expect(try fixture.status(of: .daemon).generation == generation)
            try fixture.restart { try tpm.stop() }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("where they cannot follow the credential it says so, and the next try moves them")
        func leftBehind() throws {
            let fixture = try DaemonFixture.onTPM(tpm.tcti, kind: "file")
            // The daemon has the directory open, and can keep nothing in it any more.
            #expect(unsafe rmdir(fixture.state + "/private/template-keys") == 0)
            let request = Request.migrate(account: Self.name, vault: Bytes("tpm".utf8))
            let answer = try fixture.ask(request)
            #expect(answer.reason == .storage, "\(answer)")
            #expect(try !isUnderTPM(fixture))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try fixture.restart()
            try migrate(fixture, to: "tpm")
            #expect(try isUnderTPM(fixture))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a TPM that is trusted again during an enrolment does not end the enrolment")
        func trustedMeanwhile() throws {
            let fixture = try fixture(on: .storage)
            let client = try fixture.client()
            try client.send(.enroll(account: Self.name, finger: .leftIndex, readerID: nil))
            try client.wait(for: .touch)
            // This touch only asks whose finger it is.
            try fixture.storage.send(.scan("two"))
            try client.wait(for: .touch)
            #expect(try fixture.ask(.trustVault).done != nil)
            for _ in 0..<5 { try fixture.storage.send(.scan("two")) }
            #expect(
                try client.last().done
                    == DoneAnswer(finger: .leftIndex, prints: 2, state: .valid))
            for id in ["one", "two"] {
                #expect(try fixture.login(.daemon, with: id).assertion != nil)
            }
            #expect(try fixture.stored() == ["one", "two"])
        }

        @Test("a missing, cut, altered or foreign key opens none of them")
        func altered() throws {
            let fixture = try fixture()
            let key = try #require(keys(fixture).first)
            let whole = try Layout.read(key)
            let stranger = try TemplateKeyTests()
            let other = try stranger.fixture()
            let theirs = try Layout.read(try #require(stranger.keys(other).first))
            var altered = whole
            altered[altered.count - 30] ^= 1
            let credential = try Layout.read(fixture.file("credential", of: .daemon))
            let publicKey = try Layout.read(fixture.publicKey(of: .daemon))
            for bad in [nil, Array(whole.dropLast(20)), altered, theirs] {
                try fixture.restart {
                    if let bad {
                        try DaemonFixture.write(bad, to: key)
                    } else {
                        #expect(unsafe unlink(key) == 0)
                    }
                }
                let status = try fixture.status(of: .daemon)
                #expect(status.damaged == 1 && status.prints == 0 && status.closed == nil)
                let answer = try fixture.ask(.login(.daemon, tries: 1))
                #expect(answer.reason == .invalidated, "\(answer)")
                try fixture.restart {
                    try DaemonFixture.write(whole, to: key)
                    try DaemonFixture.write(credential, to: fixture.file("credential", of: .daemon))
                    try DaemonFixture.write(
                        publicKey, to: fixture.publicKey(of: .daemon), mode: 0o644)
                }
                #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            }
        }
    }
}
