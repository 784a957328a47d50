// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import SSHProtocol
import SignedFormats
import TestSupport
import Testing

/// What an account does with an ssh key, before and after its fingers change.
extension DaemonFixture {
    /// Makes a key with a touch.
    func makeSSHKey(with finger: String = "one") throws -> SSHKeyContent {
        let request = SSHCreateRequest(
            account: Person.daemon.account, timeoutMilliseconds: 20_000,
            application: Bytes("ssh:".utf8))
        let answer = try touchEach(
            .sshCreate(request), with: finger, client: client(.daemon))
        return try #require(answer.own(SSHKeyMadeAnswer.self)?.content, "\(answer)")
    }

    /// Signs a file with a key and a touch.
    func signSSH(by key: SSHKeyContent, with finger: String = "one") throws -> Answer {
        try touchEach(
            .sshSign(
                SSHSignRequest(
                    account: Person.daemon.account, timeoutMilliseconds: 20_000,
                    application: key.application.bytes, handle: key.handle.bytes,
                    data: SSHData.Signature().bytes)),
            with: finger, client: client(.daemon))
    }

    /// The states of the account's keys as it sees them.
    func sshKeyStates() throws -> [SSHKeyState] {
        let client = try client(.daemon)
        try client.send(.sshList(account: Person.daemon.account))
        return try client.rest().compactMap { $0.own(SSHKeyAnswer.self)?.content.state }
    }

    /// Enrols a finger as the account itself, with its password.
    @discardableResult
    func enrolWithPassword(
        _ finger: Finger, as id: String, password: String = "right", checking: Bool = false
    ) throws -> Answer {
        let client = try client(.daemon)
        try client.send(
            .enroll(account: Person.daemon.account, finger: finger, readerID: nil))
        guard try client.isAskedPassword(of: Person.daemon.account) else {
            throw ClientFault.ended(client.heard)
        }
        try client.send(.password(Bytes(password.utf8)))
        return try scanEnrolment(client, as: id, checking: checking)
    }

    /// The text of the account's only ssh key on disk.
    func sshKeyRecord() throws -> String {
        let files = Layout.entries(of: file("ssh-keys", of: .daemon))
        let name = try #require(files.first)
        return String(
            decoding: try Layout.read(file("ssh-keys/\(name)", of: .daemon)), as: UTF8.self)
    }
}

extension DaemonTests {
    @Suite("an ssh key, when the fingers change") struct SSHKeyChangeTests {
        private static let name = Person.daemon.account

        private func fixture(_ configuration: String = "") throws -> DaemonFixture {
            let fixture = try DaemonFixture([.text], configuration: configuration)
            try fixture.enrol(.daemon, as: "one")
            return fixture
        }

        private func signs(
            _ fixture: DaemonFixture, _ key: SSHKeyContent, with finger: String,
            counter: UInt32
        ) throws {
            let answer = try fixture.signSSH(by: key, with: finger)
            #expect(answer.own(SSHSignatureAnswer.self)?.counter == counter, "\(answer)")
        }

        private func isDestroyed(_ fixture: DaemonFixture, _ key: SSHKeyContent) throws {
            #expect(try fixture.signSSH(by: key).reason == .sshKeyInvalidated)
            #expect(try fixture.sshKeyStates() == [.invalidated])
            #expect(try !fixture.sshKeyRecord().contains("\nkey: "))
        }

        @Test("stays the same after a change with the password, for exactly the fingers of then")
        func authorized() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            try signs(fixture, key, with: "one", counter: 1)
            let added = try fixture.enrolWithPassword(.leftIndex, as: "two").done
            #expect(added?.sshKeysKept == 1 && added?.sshKeysEnded == nil)
            #expect(try fixture.sshKeyStates() == [.good])
            try signs(fixture, key, with: "two", counter: 2)
            try signs(fixture, key, with: "one", counter: 3)
            let deletion = Request.delete(account: Self.name, finger: .rightIndex)
            let deleted = try fixture.give("right", to: deletion, as: .daemon).done
            #expect(deleted?.sshKeysKept == 1 && deleted?.sshKeysEnded == nil)
            #expect(try fixture.signSSH(by: key, with: "one").reason == .noMatch)
            try signs(fixture, key, with: "two", counter: 4)
            try fixture.restart()
            try signs(fixture, key, with: "two", counter: 5)
            #expect(try !fixture.sshKeyRecord().contains("\nnext: "))
        }

        @Test("is destroyed by root's change, which no password stands behind")
        func root() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let done = try fixture.enrol(.daemon, .leftIndex, as: "two").done
            #expect(done?.sshKeysKept == nil && done?.sshKeysEnded == 1)
            try isDestroyed(fixture, key)
            // The password does not bring it back.
            let later = try fixture.enrolWithPassword(.leftThumb, as: "three").done
            #expect(later?.sshKeysKept == nil && later?.sshKeysEnded == nil)
            try isDestroyed(fixture, key)
        }

        @Test("is destroyed with the last finger, even with the password")
        func last() throws {
            let fixture = try fixture()
            _ = try fixture.makeSSHKey()
            let deletion = Request.delete(account: Self.name, finger: nil)
            let done = try fixture.give("right", to: deletion, as: .daemon).done
            #expect(done?.prints == 0 && done?.sshKeysEnded == 1)
            #expect(try fixture.sshKeyStates() == [.invalidated])
        }

        @Test("is left alone by a change that was refused or not completed")
        func refused() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let client = try fixture.client(.daemon)
            try client.send(.enroll(account: Self.name, finger: .leftIndex, readerID: nil))
            #expect(try client.isAskedPassword(of: Self.name))
            try client.send(.password(Bytes("wrong".utf8)))
            #expect(try client.last().denial != nil)
            let other = try fixture.client(.daemon)
            try other.send(.enroll(account: Self.name, finger: .leftIndex, readerID: nil))
            #expect(try other.isAskedPassword(of: Self.name))
            try other.send(.password(Bytes("right".utf8)))
            try other.wait(for: .touch)
            try other.send(.cancel)
            #expect(try other.last().reason == .cancelled)
            try signs(fixture, key, with: "one", counter: 1)
            #expect(try !fixture.sshKeyRecord().contains("\nnext: "))
        }

        @Test("stays when login by finger is off, and works once that is on again")
        func disabled() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            #expect(try fixture.ask(.disable(account: Self.name)).done != nil)
            let done = try fixture.enrolWithPassword(.leftIndex, as: "two").done
            #expect(done?.state == .disabled && done?.sshKeysKept == 1)
            #expect(try fixture.signSSH(by: key).reason == .notEnabled)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            try signs(fixture, key, with: "two", counter: 1)
        }

        @Test("is destroyed if the fingers were changed behind Signet's back before the password")
        func foreignChange() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            try fixture.enrolWithPassword(.leftIndex, as: "two")
            let print = try #require(fixture.prints(of: .daemon).first)
            try fixture.restart { try DaemonFixture.damage(print) }
            let done = try fixture.enrolWithPassword(.leftThumb, as: "three").done
            #expect(done?.sshKeysKept == nil)
            try isDestroyed(fixture, key)
        }

        @Test("a sealing for fingers that never took effect is dropped, and opens nothing later")
        func leftover() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            try fixture.enrolWithPassword(.leftIndex, as: "two")
            let old = try fixture.sshKeyRecord()
            let sealing = old.split(separator: "\n").drop { !$0.hasPrefix("generation: ") }
            let generation = try #require(sealing.first?.dropFirst("generation: ".count))
            // As a crash leaves it: another sealing beside the one that counts.
            let files = Layout.entries(of: fixture.file("ssh-keys", of: .daemon))
            let path = fixture.file("ssh-keys/\(files[0])", of: .daemon)
            let other = String(repeating: "a", count: 64)
            let left =
                old + "next: \(generation)\n"
                + sealing.map { line in
                    line.hasPrefix("enrolment: ") ? "enrolment: \(other)" : String(line)
                }.joined(separator: "\n") + "\n"
            try DaemonFixture.write(left, to: path)
            try signs(fixture, key, with: "two", counter: 1)
            #expect(try !fixture.sshKeyRecord().contains("\nnext: "))
            try DaemonFixture.write(
                old.replacing("counter: 0", with: "counter: 1") + "next: 1\n", to: path)
            #expect(try fixture.signSSH(by: key).reason == .unknownSshKey)
        }

        @Test("an older state of the record opens nothing after the change")
        func olderRecord() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let old = try fixture.sshKeyRecord()
            try fixture.enrolWithPassword(.leftIndex, as: "two")
            let files = Layout.entries(of: fixture.file("ssh-keys", of: .daemon))
            try DaemonFixture.write(
                old, to: fixture.file("ssh-keys/\(files[0])", of: .daemon))
            try isDestroyed(fixture, key)
        }

        @Test("one that its vault cannot seal again is destroyed, and the change takes effect")
        func unsealable() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            let files = Layout.entries(of: fixture.file("ssh-keys", of: .daemon))
            let path = fixture.file("ssh-keys/\(files[0])", of: .daemon)
            let record = try fixture.sshKeyRecord()
            let line = try #require(record.split(separator: "\n").first { $0.hasPrefix("key: ") })
            var altered = Bytes(line.utf8)
            let (a, b) = (UInt8(ascii: "A"), UInt8(ascii: "B"))
            altered[altered.count - 5] = altered[altered.count - 5] == a ? b : a
            try DaemonFixture.write(
                record.replacing(line, with: String(decoding: altered, as: UTF8.self)), to: path)
            let done = try fixture.enrolWithPassword(.leftIndex, as: "two").done
            #expect(done?.prints == 2 && done?.sshKeysEnded == 1 && done?.sshKeysKept == nil)
            try isDestroyed(fixture, key)
            let login = Request.login(.daemon, tries: 1)
            #expect(try fixture.touchEach(login, with: "two").assertion != nil)
        }

        @Test("in the TPM it stays as well, also if bound to PCRs", arguments: ["", "pcrs = 16"])
        func inTPM(_ setting: String) throws {
            let tpm = try SoftwareTPM()
            let fixture = try DaemonFixture.onTPM(tpm.tcti, kind: "tpm", setting)
            let key = try fixture.makeSSHKey()
            #expect(key.vault == Bytes("tpm".utf8))
            #expect(try fixture.enrolWithPassword(.leftIndex, as: "two").done?.sshKeysKept == 1)
            try signs(fixture, key, with: "two", counter: 1)
            try fixture.restart()
            try signs(fixture, key, with: "one", counter: 2)
            #expect(try tpm.transientHandles.isEmpty)
            #expect(try fixture.enrol(.daemon, .leftThumb, as: "three").done != nil)
            try isDestroyed(fixture, key)
        }

        @Test("an import with the password keeps it, one by root destroys it")
        func imported() throws {
            let fixture = try fixture()
            let key = try fixture.makeSSHKey()
            try fixture.fprintd.add("daemon", .text, .leftIndex)
            let client = try fixture.client(.daemon)
            try client.send(.importPrint(account: Self.name))
            while let answer = try client.next(), answer != .passwordWanted(account: Self.name) {}
            try client.send(.password(Bytes("right".utf8)))
            #expect(try client.last().done?.sshKeysKept == 1)
            try signs(fixture, key, with: "one", counter: 1)
            let deletion = Request.delete(account: Self.name, finger: .leftIndex)
            #expect(try fixture.give("right", to: deletion, as: .daemon).done?.sshKeysKept == 1)
            #expect(try fixture.ask(.importPrint(account: Self.name)).done?.sshKeysEnded == 1)
            try isDestroyed(fixture, key)
        }
    }

    @Suite("an ssh key, when a desktop changes the fingers") struct DesktopSSHKeyTests {
        private func fixture() throws -> (DesktopFixture, SSHKeyContent) {
            let fixture = try DesktopFixture([.text])
            return (fixture, try fixture.daemon.makeSSHKey())
        }

        private func delete(
            _ program: BusProgram, _ finger: Finger?
        ) -> DesktopDeleteRequest {
            DesktopDeleteRequest(
                client: program.name, account: Person.daemon.account, finger: finger)
        }

        @Test("stays if polkit had the password given")
        func confirmed() throws {
            let (fixture, key) = try fixture()
            let program = try fixture.program(of: .daemon)
            let added = try fixture.enrol(program, .leftIndex, as: "two", checking: false).done
            #expect(added?.sshKeysKept == 1)
            let deleted = try fixture.ask(delete(program, .rightIndex)).done
            #expect(deleted?.sshKeysKept == 1)
            let answer = try fixture.daemon.signSSH(by: key, with: "two")
            #expect(answer.own(SSHSignatureAnswer.self)?.counter == 1, "\(answer)")
        }

        @Test("is destroyed if a rule of polkit's lets anybody do it without a password")
        func allowed() throws {
            let (fixture, key) = try fixture()
            try fixture.polkit.set(PlayedPolkit.enroll, .always)
            let done = try fixture.enrol(
                try fixture.program(of: .daemon), .leftIndex, as: "two", checking: false
            ).done
            #expect(done?.prints == 2 && done?.sshKeysEnded == 1)
            #expect(try fixture.daemon.signSSH(by: key).reason == .sshKeyInvalidated)
        }

        @Test("stays as it was if polkit refuses")
        func refused() throws {
            let (fixture, key) = try fixture()
            try fixture.polkit.set(PlayedPolkit.enroll, .no)
            let program = try fixture.program(of: .daemon)
            #expect(try fixture.ask(delete(program, nil)).reason == .notPermitted)
            #expect(
                try fixture.daemon.signSSH(by: key).own(SSHSignatureAnswer.self) != nil)
        }
    }
}

/// Usable for the fingers that count, or destroyed: the daemon dies at every step of a change.
@Suite("an ssh key, the daemon stopped at every step of", .serialized)
struct SSHKeyKillTests {
    private static let name = Person.daemon.account

    private struct Change: Sendable {
        let text: String
        /// Whether a password stands behind it.
        var isAuthorized = true
        /// The finger that is there only afterwards, and the one that is there only before.
        var added: String?
        var deleted: String?
        let run: @Sendable (DaemonFixture) throws -> Answer
    }

    private static let changes: [Change] = [
        Change(text: "a finger added with the password", added: "three") {
            try $0.enrolWithPassword(.leftThumb, as: "three")
        },
        Change(text: "a finger replaced with the password", added: "three", deleted: "two") {
            try $0.enrolWithPassword(.leftIndex, as: "three")
        },
        Change(text: "a finger deleted with the password", deleted: "two") {
            try $0.give("right", to: .delete(account: name, finger: .leftIndex), as: .daemon)
        },
        Change(text: "a finger added by root", isAuthorized: false, added: "three") {
            try $0.enrol(.daemon, .leftThumb, as: "three")
        },
        Change(text: "a finger deleted by root", isAuthorized: false, deleted: "two") {
            try $0.ask(.delete(account: name, finger: .leftIndex))
        },
    ]

    @Test("a change leaves a key for the fingers of then, or none", arguments: changes.indices)
    func killed(_ index: Int) throws {
        let change = Self.changes[index]
        let scratch = try Scratch()
        let failpoint = try Failpoint(path: scratch.at("failpoint"))
        let fixture = try DaemonFixture([.text], failpoint: failpoint)
        try fixture.enrol(.daemon, .rightIndex, as: "one")
        try fixture.enrol(.daemon, .leftIndex, as: "two")
        let key = try fixture.makeSSHKey()
        let generation = try Self.generation(fixture)
        let snapshot = try Snapshot(fixture)
        failpoint.arm()
        _ = try change.run(fixture)
        let points = failpoint.reached
        #expect(points >= 3)
        for point in 1...points {
            let answer = try snapshot.kill(at: point, failpoint, change.run)
            let isChanged = try Self.generation(fixture) != generation
            if answer != nil { #expect(isChanged, "\(change.text), \(point)") }
            let place = "\(change.text), \(point)"
            let gone = isChanged ? change.deleted : change.added
            if let gone {
                let refusal = try fixture.signSSH(by: key, with: gone).reason
                let isLost = !change.isAuthorized && isChanged
                #expect(refusal == (isLost ? .sshKeyInvalidated : .noMatch), "\(place)")
            }
            let answered = try fixture.signSSH(by: key, with: "one")
            if change.isAuthorized || !isChanged {
                // Nothing is lost, whichever side of the change the crash was on.
                #expect(answered.own(SSHSignatureAnswer.self) != nil, "\(place): \(answered)")
            } else {
                #expect(answered.reason == .sshKeyInvalidated, "\(place)")
            }
            // Nothing is left of what did not come about.
            #expect(try !fixture.sshKeyRecord().contains("\nnext: "), "\(place)")
            if change.isAuthorized, let there = isChanged ? change.added : change.deleted {
                let other = try fixture.signSSH(by: key, with: there)
                #expect(other.own(SSHSignatureAnswer.self) != nil, "\(place): \(other)")
            }
            // And root's change afterwards destroys it, whatever the crash has left.
            if change.isAuthorized, !isChanged {
                let id = change.added == nil ? nil : "three"
                if let id {
                    try fixture.enrol(.daemon, .leftThumb, as: id)
                } else {
                    #expect(
                        try fixture.ask(.delete(account: Self.name, finger: .leftIndex)).done != nil
                    )
                }
                #expect(try fixture.signSSH(by: key).reason == .sshKeyInvalidated, "\(place)")
            }
        }
        print("\(change.text): killed at each of \(points) points")
    }

    private static func generation(_ fixture: DaemonFixture) throws -> String {
        let record = try Layout.read(fixture.file("account", of: .daemon))
        let lines = String(decoding: record, as: UTF8.self).split(separator: "\n")
        return String(try #require(lines.first { $0.hasPrefix("generation: ") }))
    }
}
