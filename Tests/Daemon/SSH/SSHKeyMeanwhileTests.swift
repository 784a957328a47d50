// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import SSHProtocol
import SignedFormats
import TestSupport
import Testing

extension DaemonTests {
    /// Between the password and the end of the change, the daemon serves others while its vault is
    /// at work.
    @Suite("an ssh key, while a change of fingers is in progress") struct SSHKeyMeanwhileTests {
        private static let name = Person.daemon.account
        private let tpm: HeldTPM
        private let fixture: DaemonFixture
        private let key: SSHKeyContent

        init() throws {
            tpm = try HeldTPM()
            fixture = try DaemonFixture([.text], configuration: tpm.configuration)
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "two")
            key = try fixture.makeSSHKey()
        }

        /// Whether a record of the key's has another sealing beside the one that counts.
        private static func isPrepared(in directory: String) -> Bool {
            Layout.entries(of: directory).contains { name in
                let record = (try? Layout.read("\(directory)/\(name)")) ?? []
                return String(decoding: record, as: UTF8.self).contains("\nnext: ")
            }
        }

        /// Deletes a finger with the password; the vault stands still before it seals the key again,
        /// or after that.
        private func deleting(isSealed: Bool) throws -> TestClient {
            let keys = fixture.file("ssh-keys", of: .daemon)
            tpm.stop { exchange in
                isSealed ? Self.isPrepared(in: keys) : exchange.code == .objectChangeAuth
            }
            let client = try fixture.client(.daemon)
            try client.send(.delete(account: Self.name, finger: .leftIndex))
            try #require(try client.isAskedPassword(of: Self.name))
            try client.send(.password(Bytes("right".utf8)))
            try tpm.awaitStop()
            #expect(Self.isPrepared(in: keys) == isSealed)
            return client
        }

        @Test("keeps what it is sealed to for the change, whatever else is asked for")
        func kept() throws {
            let change = try deleting(isSealed: true)
            #expect(try fixture.sshKeyStates() == [.good])
            // A report says what is silent, and what is known without it.
            let status = try fixture.status(of: .daemon)
            #expect(status.prints == 2 && status.refusal?.reason == .vaultUnavailable, "\(status)")
            #expect(!status.readersUnknown)
            // Looked at for a signature, which is then refused without a touch.
            let signing = Request.sshSign(
                SSHSignRequest(
                    account: Self.name, timeoutMilliseconds: 20_000,
                    application: key.application.bytes, handle: key.handle.bytes, data: [1]))
            #expect(try fixture.client(.daemon).ask(signing).reason == .sshDataRefused)
            #expect(try fixture.sshKeyRecord().contains("\nnext: "))
            tpm.goOn()
            let changed = try change.last()
            let done = changed.done
            #expect(done?.prints == 1 && done?.sshKeysKept == 1, "\(changed)")
            #expect(try fixture.signSSH(by: key, with: "two").reason == .noMatch)
            let answer = try fixture.signSSH(by: key, with: "one")
            #expect(answer.own(SSHSignatureAnswer.self)?.counter == 1, "\(answer)")
            #expect(try !fixture.sshKeyRecord().contains("\nnext: "))
        }

        @Test("fingerprint login that is turned off meanwhile stays off, and no finger changes")
        func disabled() throws {
            let change = try deleting(isSealed: false)
            #expect(try fixture.ask(.disable(account: Self.name)).done?.state == .disabled)
            tpm.goOn()
            #expect(try change.last().reason == .badRequest)
            let status = try fixture.status(of: .daemon)
            #expect(status.prints == 2 && status.state == .disabled)
            #expect(try fixture.signSSH(by: key).reason == .notEnabled)
            // What was sealed for the change that did not come about opens nothing.
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            let answer = try fixture.signSSH(by: key, with: "two")
            #expect(answer.own(SSHSignatureAnswer.self)?.counter == 1, "\(answer)")
            #expect(try !fixture.sshKeyRecord().contains("\nnext: "))
        }

        @Test("a second change is refused meanwhile, and afterwards destroys it without a password")
        func second() throws {
            let change = try deleting(isSealed: true)
            let other = Request.delete(account: Self.name, finger: .rightIndex)
            #expect(try fixture.ask(other).reason == .badRequest)
            #expect(try fixture.sshKeyRecord().contains("\nnext: "))
            tpm.goOn()
            #expect(try change.last().done?.sshKeysKept == 1)
            #expect(try fixture.enrol(.daemon, .leftThumb, as: "three").done?.sshKeysEnded == 1)
            #expect(try fixture.signSSH(by: key).reason == .sshKeyInvalidated)
        }
    }
}
