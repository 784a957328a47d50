// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("enrolment") struct EnrolmentTests {
        private static let name = Person.daemon.account

        @Test("another account's finger is refused, and one that is known under another name")
        func taken() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            try client.send(
                .enroll(account: Person.bin.account, finger: .leftIndex, readerID: nil))
            for _ in 0..<2 {
                try client.wait(for: .touch)
                try fixture.storage.send(.scan("one"))
            }
            let taken = try client.last()
            #expect(taken == .denial(Denial(.fingerNotEnrolled)))
            #expect(try fixture.status(of: .bin).prints == 0)
            try client.send(
                .enroll(account: Self.name, finger: .leftIndex, readerID: nil))
            try client.wait(for: .touch)
            try fixture.storage.send(.scan("one"))
            #expect(try client.last() == .denial(Denial(.fingerKnown, finger: .rightIndex)))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test(
            "the number of scans is announced with the enrolment, not with the search for the finger"
        )
        func scansWanted() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            try client.send(.enroll(account: Self.name, finger: .leftIndex, readerID: nil))
            let asked = try client.wait(for: .touch)
            #expect(asked.total == nil && asked.done == nil)
            try fixture.storage.send(.scan("two"))
            var wanted = try client.wait(for: .touch)
            while wanted.total == nil { wanted = try client.wait(for: .touch) }
            #expect(wanted.total == 5 && wanted.done == nil && wanted.scan == .swipe)
            try client.send(.cancel)
            #expect(try client.last() == .denial(Denial(.cancelled)))
        }

        @Test("no more fingers than the configuration says; one can still be replaced")
        func tooMany() throws {
            let fixture = try DaemonFixture(
                [.text], configuration: "[enrolment]\nfingers = 2\n")
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "two")
            #expect(try fixture.enrol(.daemon, .leftThumb, as: "three").reason == .tooManyFingers)
            let replaced = try fixture.enrol(.daemon, .leftIndex, as: "four")
            #expect(replaced.done == DoneAnswer(finger: .leftIndex, prints: 2, state: .valid))
            // This reader compares with one print at a time, and wants the finger for each.
            let old = try fixture.touchEach(.login(.daemon, tries: 1), with: "two")
            #expect(old.reason == .noMatch && old.denial?.mismatches == 1)
            let new = try fixture.touchEach(.login(.daemon, tries: 1), with: "four")
            #expect(new.assertion != nil)
        }

        @Test("deleting a finger leaves the others good; deleting the last ends login by finger")
        func deleting() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "two", checking: true)
            try fixture.enrol(.daemon, .leftThumb, as: "three", checking: true)
            let unknown = try fixture.ask(.delete(account: Self.name, finger: .leftLittle))
            #expect(unknown == .denial(Denial(.unknownFinger, finger: .leftLittle)))
            let one = try fixture.ask(.delete(account: Self.name, finger: .leftIndex))
            #expect(one.done == DoneAnswer(finger: .leftIndex, prints: 2, state: .valid))
            #expect(try fixture.login(.daemon, with: "two").reason == .noMatch)
            #expect(try fixture.login(.daemon, with: "three").assertion != nil)
            // The reader has forgotten it too: it can be enrolled again.
            #expect(try fixture.enrol(.bin, as: "two", checking: true).done != nil)
            let all = try fixture.ask(.delete(account: Self.name, finger: nil))
            #expect(all.done == DoneAnswer(prints: 0, state: CredentialState.none))
            #expect(try fixture.ask(.login(.daemon)) == .denial(Denial(.notEnrolled)))
            #expect(Layout.entries(of: fixture.state + "/keys") == ["2.pub"])
        }

        @Test("what was switched off stays off when fingers change, until enable")
        func staysOff() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            #expect(try fixture.ask(.disable(account: Self.name)).done?.state == .disabled)
            #expect(try fixture.ask(.login(.daemon)).reason == .notEnabled)
            let added = try fixture.enrol(.daemon, .leftIndex, as: "one")
            #expect(added.done == DoneAnswer(finger: .leftIndex, prints: 2, state: .disabled))
            let deleted = try fixture.ask(.delete(account: Self.name, finger: .leftIndex))
            #expect(deleted.done?.state == .disabled)
            #expect(try fixture.ask(.login(.daemon)).reason == .notEnabled)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a cancelled, failed or unplugged enrolment keeps nothing, on the reader neither")
        func abandoned() throws {
            let fixture = try DaemonFixture()
            let request = Request.enroll(account: Self.name, finger: .leftIndex, readerID: nil)
            let client = try fixture.client()
            try client.send(request)
            try client.wait(for: .touch)
            try fixture.storage.send(.scan("one"))
            try client.wait(for: .stage)
            try client.send(.cancel)
            #expect(try client.last() == .denial(Denial(.cancelled)))
            try client.send(request)
            try client.wait(for: .touch)
            try fixture.storage.send(.error(0))
            #expect(try client.last().reason == .readerFailed)
            #expect(try fixture.status(of: .daemon).prints == 0)
            let done = try fixture.enrol(.daemon, .leftIndex, as: "one")
            #expect(done.done?.prints == 1)
            try client.send(request)
            try client.wait(for: .touch)
            try fixture.unplug(fixture.storage)
            #expect(try client.last().reason == .readerRemoved)
            #expect(try fixture.ask(request).reason == .noReader)
            #expect(try fixture.status(of: .daemon).state == .valid)
        }

        @Test("a missing reader enrols nothing")
        func noReader() throws {
            let fixture = try DaemonFixture()
            let request = Request.enroll(
                account: Self.name, finger: .leftIndex, readerID: Bytes("nowhere:0".utf8))
            #expect(try fixture.ask(request) == .denial(Denial(.noReader)))
        }

        @Test("a new owner of a uid inherits no finger")
        func reusedUID() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            // As if uid 1 had belonged to another user when the finger was enrolled.
            let record = fixture.file("account", of: .daemon)
            let text = try String(decoding: Layout.read(record), as: UTF8.self)
            try DaemonFixture.write(
                text.replacing("name: daemon", with: "name: former"), to: record, mode: 0o600)
            let denial = try #require(try fixture.ask(.login(.daemon)).denial)
            #expect(denial.reason == .invalidated && denial.cause == .accountReplaced)
            let request = Request.enroll(account: Self.name, finger: .leftIndex, readerID: nil)
            #expect(try fixture.ask(request).reason == .invalidated)
            // A server's token for the former account's session goes with the rest.
            let tokens = fixture.directory + "/tokens"
            #expect(unsafe mkdir(tokens, 0o700) == 0 || errno == EEXIST)
            let token = "\(tokens)/\(Person.daemon.uid)"
            try DaemonFixture.write("x", to: token, mode: 0o600)
            #expect(try fixture.ask(.delete(account: Self.name, finger: nil)).done != nil)
            #expect(unsafe access(token, F_OK) != 0)
            let enrolled = try fixture.enrol(.daemon, .leftIndex, as: "two")
            #expect(enrolled.done?.prints == 1)
            #expect(try fixture.login(.daemon, with: "one").reason == .noMatch)
            #expect(try fixture.login(.daemon, with: "two").assertion != nil)
        }
    }
}
