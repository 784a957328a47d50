// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Sealing
import State
import TestSupport
import Testing

extension DaemonTests {
    @Suite("what a reader keeps itself") struct StorageTests {
        private static let name = Person.daemon.account

        /// A login during which something happens on the reader that no one here did.
        private func meanwhile(
            _ fixture: DaemonFixture, _ commands: VirtualReader.Command..., finger: String = "one"
        ) throws -> Answer {
            let client = try fixture.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            for command in commands { try fixture.storage.send(command) }
            try fixture.storage.send(.scan(finger))
            return try client.last()
        }

        /// An enrolment of another account that waits for its first finger.
        private func beginEnrolment(_ fixture: DaemonFixture) throws -> TestClient {
            let client = try fixture.client()
            try client.send(
                .enroll(account: Person.bin.account, finger: .leftIndex, readerID: nil))
            try client.wait(for: .touch)
            // This touch only asks whose finger it is.
            try fixture.storage.send(.scan("two"))
            try client.wait(for: .touch)
            return client
        }

        /// Requires that the next login is refused at once, for a reason that is remembered, and
        /// that `signet enable` mends it.
        private func expectDestroyed(
            _ fixture: DaemonFixture, _ cause: InvalidationCause, mending finger: String? = "one"
        ) throws {
            let before = try fixture.status(of: .daemon).generation
            let failures = try fixture.failures(of: .daemon)
            let client = try fixture.client()
            try client.send(.login(.daemon))
            // It may have to wait for what the login before it still does on the reader.
            let answers = try client.rest().filter { $0.notice?.kind != .waiting }
            #expect(answers.count == 1, "no useless touch is asked for: \(answers)")
            #expect(answers.last?.reason == .invalidated)
            #expect(answers.last?.denial?.cause == cause)
            #expect(try fixture.failures(of: .daemon) <= failures)
            let again = try #require(try fixture.ask(.login(.daemon)).denial)
            #expect(again.reason == .invalidated && again.cause == cause)
            let status = try fixture.status(of: .daemon)
            #expect(status.state == .invalidated && status.cause == cause)
            #expect(status.generation == before + 1, "it counts as a change of fingers")
            #expect(!Layout.entries(of: fixture.state + "/keys").contains("1.pub"))
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            guard let finger else { return }
            #expect(try fixture.login(.daemon, with: finger).assertion != nil)
            #expect(try fixture.login(.daemon, with: finger).assertion != nil)
        }

        @Test("a finger that another system added there ends login by finger, until enable")
        func added() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try meanwhile(fixture, .insert("stranger")).assertion != nil)
            try expectDestroyed(fixture, .fingerAddedOnReader)
        }

        @Test("so does one that another system removed, and one that it put in another's place")
        func removed() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "two", checking: true)
            #expect(try meanwhile(fixture, .remove("two")).assertion != nil)
            try expectDestroyed(fixture, .fingerRemovedOnReader)
            #expect(try meanwhile(fixture, .insert("x"), .remove("two")).assertion != nil)
            try expectDestroyed(fixture, .fingerAddedOnReader)
        }

        @Test(
            "prints that were there before the first enrolment count against no account while they stay"
        )
        func foreign() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            #expect(try meanwhile(fixture, .insert("stranger")).assertion != nil)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            try fixture.enrol(.daemon, .leftIndex, as: "two", checking: true)
            #expect(try fixture.login(.daemon, with: "two").assertion != nil)
            #expect(try meanwhile(fixture, .remove("stranger"), finger: "two").assertion != nil)
            try expectDestroyed(fixture, .fingerRemovedOnReader, mending: "two")
        }

        @Test("enrolling or deleting a finger does not vouch for one that another system added")
        func notBlessed() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.daemon, .rightThumb, as: "old", checking: true)
            #expect(try meanwhile(fixture, .insert("stranger")).assertion != nil)
            // A deletion lists nothing, and leaves what was recorded.
            let deleted = try fixture.ask(.delete(account: Self.name, finger: .rightThumb))
            #expect(deleted.done?.state == .valid)
            let added = try fixture.enrol(.daemon, .leftIndex, as: "two", checking: true)
            #expect(added.done == DoneAnswer(finger: .leftIndex, prints: 2, state: .invalidated))
            let denied = try #require(try fixture.ask(.login(.daemon)).denial)
            #expect(denied.cause == .fingerAddedOnReader)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            for finger in ["one", "two"] {
                #expect(try fixture.login(.daemon, with: finger).assertion != nil)
            }
        }

        @Test(
            "no finger is added where a key that covers a stranger's cannot be destroyed",
            arguments: ["account", "credential"])
        func unrecorded(file: String) throws {
            let scratch = try Scratch()
            let failpoint = try Failpoint(path: scratch.at("failpoint"))
            let fixture = try DaemonFixture(failpoint: failpoint)
            try fixture.enrol(.daemon, as: "one")
            #expect(try meanwhile(fixture, .insert("stranger")).assertion != nil)
            failpoint.arm(at: 1, on: file, .once(EIO))
            let answer = try enrolScanning("two", on: fixture)
            failpoint.arm()
            #expect(answer.reason == .storage, "\(answer)")
            #expect(try fixture.status(of: .daemon).prints == 1)
            // The stranger's finger has no part in a key that opens.
            let refused = try #require(try fixture.ask(.login(.daemon)).denial)
            #expect(refused.reason == .invalidated)
            // Once the change of fingers is on disk, that alone is known.
            #expect(refused.cause == .fingerAddedOnReader || file == "credential")
        }

        /// Enrols a second finger as far as that goes.
        private func enrolScanning(_ id: String, on fixture: DaemonFixture) throws -> Answer {
            let client = try fixture.client()
            try client.send(
                .enroll(account: Self.name, finger: .leftIndex, readerID: nil))
            while let answer = try client.next() {
                if answer.isLast { return answer }
                guard let notice = answer.notice else { continue }
                let isWanted = notice.kind == .touch || notice.kind == .stage
                if isWanted, notice.done ?? 0 < notice.total ?? 1 {
                    try fixture.storage.send(.scan(id))
                }
            }
            throw ClientFault.ended(client.heard)
        }

        @Test("what one account enrols or deletes there leaves another's key alone")
        func others() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.bin, as: "two", checking: true)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try fixture.enrol(.bin, .leftIndex, as: "three", checking: true)
            // Also where nothing tells whose it is but the other's own prints.
            let hints = fixture.state + "/private/stored"
            for hint in Layout.entries(of: hints) { _ = unsafe unlink("\(hints)/\(hint)") }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(!Layout.entries(of: hints).isEmpty, "it is remembered")
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(
                try fixture.ask(.delete(account: Person.bin.account, finger: nil)).done?.prints == 0
            )
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.status(of: .daemon).generation == 1)
            // A finger without an owner still counts as one if another account has some.
            try fixture.enrol(.bin, as: "two", checking: true)
            #expect(try meanwhile(fixture, .insert("stranger")).assertion != nil)
            try expectDestroyed(fixture, .fingerAddedOnReader)
        }

        @Test("a replaced finger is deleted from the reader, and the new one counts")
        func replaced() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let enrolled = try fixture.enrol(.daemon, as: "two", checking: true)
            #expect(enrolled.done == DoneAnswer(finger: .rightIndex, prints: 1, state: .valid))
            #expect(try fixture.login(.daemon, with: "one").reason == .noMatch)
            #expect(try fixture.login(.daemon, with: "two").assertion != nil)
            // The reader has room for it again.
            #expect(try fixture.enrol(.daemon, .leftThumb, as: "one", checking: true).done != nil)
        }

        @Test("a list that fails is the reader's fault, and destroys nothing")
        func failing() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            // The command for the next operation: the list of the login after this one.
            #expect(try meanwhile(fixture, .keepAlive(true)).assertion != nil)
            try fixture.storage.send(.proceed)
            try fixture.storage.send(.error(5))
            let failed = try fixture.ask(.login(.daemon))
            #expect(failed.reason == .readerConfused, "\(failed)")
            #expect(try fixture.status(of: .daemon).state == .valid)
            #expect(try fixture.failures(of: .daemon) == 0)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("an interrupted enrolment leaves nothing that counts against an account")
        func cutShort() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            // As after a crash: the reader kept what it was enrolling, and nothing else knows of it.
            let client = try beginEnrolment(fixture)
            let work = fixture.state + "/private/reader-work"
            let noted = try Layout.read(work)
            try fixture.storage.send(.insert("orphan"))
            try client.send(.cancel)
            #expect(try client.last() == .denial(Denial(.cancelled)))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(unsafe access(work, F_OK) != 0, "nothing is left to do")
            // The mark that a crash left is enough, whenever the reader is used again.
            #expect(try meanwhile(fixture, .insert("orphan")).assertion != nil)
            try DaemonFixture.write(noted, to: work)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(unsafe access(work, F_OK) != 0)
            #expect(try fixture.status(of: .daemon).state == .valid)
        }

        @Test("a reader that is unplugged and plugged in again is recognised, with what it stores")
        func replugged() throws {
            let fixture = try DaemonFixture.withTwoReaders()
            #expect(try fixture.loginUnplugging().assertion != nil)
            // Without it the other goes on, and so does what was recorded of it.
            let absent = try fixture.client()
            try absent.send(.login(.daemon, tries: 1))
            try absent.wait(for: .touch)
            try fixture.text.send(.scan("two"))
            #expect(try absent.last().assertion != nil)
            let added = try fixture.enrol(
                .daemon, .leftThumb, as: "three", on: DaemonFixture.textID)
            #expect(added.done?.state == .valid)
            try fixture.restart()
            let again = try fixture.client()
            try again.send(.login(.daemon, tries: 1))
            // Also of the reader that is listed first: a scan that comes sooner is lost on it.
            try again.wait(for: .touch)
            try again.wait(for: .touch)
            try fixture.storage.send(.scan("one"))
            #expect(try again.last().assertion != nil)
        }

        @Test("a finger that is added while no daemon runs is noticed")
        func addedMeanwhile() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.restart()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try fixture.change { $0 + ["stranger"] }
            try expectDestroyed(fixture, .fingerAddedOnReader)
            try fixture.change { _ in ["one"] }
            try expectDestroyed(fixture, .fingerRemovedOnReader)
            try fixture.change { _ in ["another", "more"] }
            try expectDestroyed(fixture, .readerExchanged, mending: nil)
        }

        @Test("a crash between reader and disk leaves no print that counts against an account")
        func crash() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            _ = try beginEnrolment(fixture)
            try fixture.change { $0 + ["two"] }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.stored() == ["one"], "the reader is rid of it")
            #expect(try fixture.status(of: .bin).prints == 0)
            #expect(try fixture.enrol(.bin, .leftIndex, as: "two", checking: true).done != nil)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a deletion that a crash, or an absent reader, left half-done is done later")
        func halfDeleted() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.bin, as: "two", checking: true)
            let login = try fixture.client()
            try login.send(.login(.daemon))
            try login.wait(for: .touch)
            let deleting = try fixture.client()
            try deleting.send(.delete(account: Person.bin.account, finger: nil))
            try deleting.wait(for: .waiting)
            try fixture.change { $0 }
            #expect(try fixture.stored() == ["one", "two"])
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.stored() == ["one"])
        }

        @Test("a key of version 0.1.0, which covers no reader, covers it from its first match on")
        func earlier() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.restart {
                let state = try StateDirectory.open(fixture.state)
                let kept = try #require(try state.account(Self.name, uid: Person.daemon.uid))
                _ = try kept.credential.issue(
                    try kept.prints.enrolment(), vault: FileVault(host: state.host),
                    now: try kept.created())
            }
            let key = try Layout.read(fixture.publicKey(of: .daemon))
            #expect(try fixture.readersRecorded(for: .daemon) == 0)
            #expect(try fixture.login(.daemon, with: "two").reason == .noMatch)
            #expect(try fixture.readersRecorded(for: .daemon) == 0, "only a match vouches for it")
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            // The next request has its turn when that is written.
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.readersRecorded(for: .daemon) == 1)
            #expect(try Layout.read(fixture.publicKey(of: .daemon)) == key, "it is the same key")
            try fixture.change { $0 + ["stranger"] }
            try expectDestroyed(fixture, .fingerAddedOnReader)
        }

        @Test("what is recorded of a reader cannot be altered or left out")
        func altered() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let path = fixture.file("credential", of: .daemon)
            let forgeries: [(inout [String], Int) -> Void] = [
                { lines, first in lines.replaceSubrange(first...first + 4, with: ["readers: 0"]) },
                { lines, first in lines[first + 3] = "serial: 1" },
                { lines, first in lines[first + 4] = "stored: " },
            ]
            for forge in forgeries {
                let good = String(decoding: try Layout.read(path), as: UTF8.self)
                var lines = good.split(separator: "\n").map(String.init)
                forge(&lines, try #require(lines.firstIndex(of: "readers: 1")))
                try DaemonFixture.write(
                    Array((lines.joined(separator: "\n") + "\n").utf8), to: path)
                let answer = try fixture.touchEach(.login(.daemon, tries: 1), with: "one")
                #expect(answer.reason == .invalidated)
                #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a reader whose prints are elsewhere needs no list, and no turn to enable")
        func without() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            #expect(Layout.entries(of: fixture.state + "/private/stored").isEmpty)
            #expect(try fixture.readersRecorded(for: .daemon) == 0)
        }
    }
}

extension DaemonFixture {
    /// How many readers a credential covers, by its record.
    func readersRecorded(for person: Person) throws -> Int? {
        let record = try Layout.read(file("credential", of: person))
        let line = String(decoding: record, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("readers: ") }
        return line.flatMap { Int($0.dropFirst("readers: ".count)) }
    }

    private var storedPath: String { directory + "/storage.prints" }

    /// What the storage reader keeps, as its file has it.
    func stored() throws -> [String] {
        String(decoding: try Layout.read(storedPath), as: UTF8.self)
            .split(separator: "\n").map(String.init).sorted()
    }

    /// Kills the daemon, changes what the reader keeps as another system would, and starts it.
    func change(_ body: ([String]) -> [String]) throws {
        try restart(by: SIGKILL) { [self] in
            let changed = body(try stored()).map { $0 + "\n" }.joined()
            try Self.write(changed, to: storedPath)
        }
    }
}
