// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import State
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a status that says what a login would answer") struct StatusTests {
        private static let name = Person.daemon.account

        /// What a login is denied with, which the status has to say before it.
        private func refusal(_ fixture: DaemonFixture) throws -> Denial? {
            let status = try fixture.status(of: .daemon)
            let login = try fixture.ask(.login(.daemon, milliseconds: 100)).denial
            #expect(login?.reason == status.refusal?.reason, "\(status)")
            return status.refusal
        }

        @Test("nothing prevents a login with a finger that is enrolled")
        func open() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.status(of: .daemon).refusal == nil)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a closed lid, which is reported as it is to a login, until it is open")
        func lid() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try fixture.setLid("state:      closed\n")
            #expect(try refusal(fixture)?.reason == .lidClosed)
            try fixture.setLid("state:      open\n")
            #expect(try fixture.status(of: .daemon).refusal == nil)
        }

        @Test("fingers, key, lockout and reader")
        func account() throws {
            let fixture = try DaemonFixture([.text])
            #expect(try refusal(fixture)?.reason == .notEnrolled)
            try fixture.enrol(.daemon, as: "one")
            _ = try fixture.ask(.disable(account: Self.name))
            #expect(try refusal(fixture)?.reason == .notEnabled)
            _ = try fixture.ask(.enable(account: Self.name))
            try fixture.setFailures(20, of: .daemon)
            #expect(try refusal(fixture)?.reason == .lockedUntilPassword)
            _ = try fixture.ask(.unlock(account: Self.name))
            #expect(try fixture.status(of: .daemon).refusal == nil)
            let client = try fixture.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try fixture.unplug(fixture.text)
            #expect(try client.last().reason == .readerRemoved)
            #expect(try refusal(fixture)?.reason == .noReader)
        }

        @Test("a TPM that has disappeared since the daemon was started")
        func vault() throws {
            let tpm = try SoftwareTPM()
            let fixture = try DaemonFixture.onTPM(tpm.tcti)
            #expect(try fixture.status(of: .daemon).refusal == nil)
            try tpm.stop()
            #expect(try refusal(fixture)?.reason == .vaultUnavailable)
            try tpm.start()
            #expect(try fixture.status(of: .daemon).refusal == nil)
        }

        @Test("no key is made for what a damaged print has left, until it is deleted")
        func damaged() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "one")
            let path = try #require(
                fixture.prints(of: .daemon).first { path in
                    let bytes = try? Layout.read(path)
                    return bytes.map { String(decoding: $0, as: UTF8.self).contains("left-index") }
                        ?? false
                })
            try DaemonFixture.damage(path)
            let refused = try #require(try fixture.ask(.enable(account: Self.name)).denial)
            #expect(refused == Denial(.printsDamaged, finger: .leftIndex))
            #expect(try fixture.status(of: .daemon).state == .invalidated, "no key was made")
            let moved = try fixture.ask(.migrate(account: Self.name, vault: Bytes("file".utf8)))
            #expect(moved.denial?.reason == .printsDamaged)
            _ = try fixture.ask(.delete(account: Self.name, finger: .leftIndex))
            let client = try fixture.client()
            try client.send(.enable(account: Self.name))
            let answers = try client.rest()
            #expect(answers.last?.done?.state == .valid)
            let sealed = answers.compactMap { answer -> Finger? in
                guard case .print(let print) = answer, print.intact else { return nil }
                return print.finger
            }
            #expect(sealed == [.rightIndex], "what the key was sealed to")
        }

        @Test("with what is known of an account without fingers, which is its readers")
        func empty() throws {
            let fixture = try DaemonFixture([.text])
            let parts = try fixture.statusParts(of: .daemon)
            #expect(parts.count == 1 && parts.first?.reader != nil, "\(parts)")
            let status = try fixture.status(of: .daemon)
            #expect(!status.serversUnknown && !status.readersUnknown)
        }

        @Test(
            "that tells a new owner of the uid nothing of the former account's fingers and keys",
            arguments: [Person.daemon, .root])
        func former(asking person: Person) throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(
                try fixture.touchEach(.signingEnable(account: Self.name), with: "one").signingKey
                    != nil)
            let record = fixture.file("account", of: .daemon)
            let text = try String(decoding: Layout.read(record), as: UTF8.self)
            try DaemonFixture.write(
                text.replacing("name: daemon", with: "name: former"), to: record, mode: 0o600)
            let client = try fixture.client(person)
            try client.send(.status(account: Self.name))
            let answers = try client.rest()
            #expect(answers.count == 2 && answers.first?.reader != nil, "\(answers)")
            let status = try #require(answers.last?.status)
            #expect(status.cause == .accountReplaced && status.prints == 0)
            #expect(status.serversUnknown && status.secrets == nil && status.generation == 0)
        }

        @Test("with readers and all that can be known while a vault keeps the fingers closed")
        func closed() throws {
            let tpm = try SoftwareTPM()
            let fixture = try DaemonFixture.onTPM(tpm.tcti)
            try fixture.restart { try tpm.stop() }
            let parts = try fixture.statusParts(of: .daemon)
            #expect(parts.count == 1 && parts.first?.reader != nil, "\(parts)")
            let status = try fixture.status(of: .daemon)
            #expect(status.closed != nil && status.prints == 1 && status.serversUnknown)
        }

        @Test("with fingers and keys although the process of the readers does not answer")
        func silentReaders() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(
                try fixture.touchEach(.signingEnable(account: Self.name), with: "one").signingKey
                    != nil)
            try fixture.killReaders(by: SIGSTOP)
            let client = try fixture.client()
            try client.send(.status(account: Self.name))
            let answers = try client.rest()
            // The daemon may have ended it itself.
            _ = try? fixture.killReaders()
            #expect(answers.count == 3 && answers.first?.signingKey != nil, "\(answers)")
            guard answers.count == 3, case .print(let print) = answers[1] else { return }
            #expect(print.intact && print.state == nil, "where it can be used is not known")
            let status = try #require(answers[2].status)
            #expect(status.readersUnknown && !status.serversUnknown)
            #expect(status.refusal?.reason == .readerFailed && status.prints == 1)
        }

        @Test("with the rest although the keys for servers cannot be read")
        func unreadable() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try DaemonFixture.write([1], to: fixture.file("servers", of: .daemon))
            let parts = try fixture.statusParts(of: .daemon)
            #expect(parts.count == 2, "\(parts)")
            let status = try fixture.status(of: .daemon)
            #expect(status.serversUnknown && status.prints == 1 && status.state == .valid)
        }
    }
}
