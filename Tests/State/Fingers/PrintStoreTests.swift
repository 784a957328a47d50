// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import TestSupport
import Testing

@Suite("prints on disk")
struct PrintStoreTests {
    let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    @Test("what was added is listed, with its description and template")
    func adds() throws {
        let one = try fixture.add(1, .rightIndex)
        let two = try fixture.add(2, .leftThumb)
        let enrolment = try fixture.account.prints.enrolment()
        #expect(Set(enrolment.prints.map(\.identifier)) == [one, two])
        let print = try #require(enrolment.prints.first { $0.identifier == two })
        #expect(print.finger == .leftThumb)
        #expect(print.reader == StateFixture.reader)
        #expect(print.added == StateFixture.now)
        #expect(print.template == [UInt8](repeating: 2, count: 500))
        #expect(enrolment.damaged.isEmpty)
    }

    @Test("every change has its own generation and state, even if it restores an earlier set")
    func generations() throws {
        var seen: [[UInt8]] = [try state()]
        try fixture.add(1)
        seen.append(try state())
        try fixture.add(9)
        seen.append(try state())
        try store.remove(try #require(store.enrolment().prints.first).identifier)
        seen.append(try state())
        try fixture.add(1)
        seen.append(try state())
        try fixture.add(1)
        seen.append(try state())
        #expect(Set(seen).count == seen.count)
        #expect(try fixture.account.generation() == 5)
    }

    @Test("reading changes nothing")
    func reading() throws {
        try fixture.add(1)
        let before = try state()
        #expect(try state() == before)
        let again = try StateDirectory.open(fixture.scratch.path)
        let account = try #require(try again.account(StateFixture.alice, uid: StateFixture.uid))
        #expect(try account.prints.enrolment().state.digest == before)
    }

    @Test("the template is not on disk in the clear")
    func sealedAtRest() throws {
        let id = try fixture.add(65)
        let text = try fixture.contents(fixture.file("prints/" + hexadecimal(id)))
        #expect(!String(decoding: text, as: UTF8.self).contains("AAAAAAAA"))
    }

    @Test("a print that was altered, swapped or renamed is damaged and left out")
    func damaged() throws {
        let one = hexadecimal(try fixture.add(1, .rightIndex))
        let two = hexadecimal(try fixture.add(2, .leftIndex))
        let before = try state()
        let first = try fixture.contents(fixture.file("prints/" + one))
        let second = try fixture.contents(fixture.file("prints/" + two))
        var altered = first
        altered[altered.count - 20] ^= 1
        let relabelled = first.replacing(Array("right-index".utf8), with: Array("left-thumb".utf8))
        for bad in [
            altered, second, relabelled, [], first + first, Array(first.dropLast()), first + [0],
        ] {
            try fixture.overwrite(fixture.file("prints/" + one), bad)
            let enrolment = try fixture.account.prints.enrolment()
            #expect(enrolment.damaged.map { hexadecimal($0.identifier) } == [one])
            #expect(enrolment.damaged.map(\.finger) == [.rightIndex])
            #expect(enrolment.prints.map { hexadecimal($0.identifier) } == [two])
            #expect(enrolment.state.digest != before)
        }
        try fixture.overwrite(fixture.file("prints/" + one), first)
        #expect(try state() == before)
    }

    @Test("a print that others may write to, or a link, is damaged")
    func untrusted() throws {
        let one = fixture.file("prints/" + hexadecimal(try fixture.add(1)))
        #expect(unsafe chmod(one, 0o620) == 0)
        #expect(try fixture.account.prints.enrolment().damaged.count == 1)
        #expect(unsafe chmod(one, 0o600) == 0)
        #expect(try fixture.account.prints.enrolment().damaged.isEmpty)
        #expect(unsafe rename(one, fixture.file("elsewhere")) == 0)
        #expect(unsafe symlink(fixture.file("elsewhere"), one) == 0)
        let enrolment = try fixture.account.prints.enrolment()
        #expect(enrolment.damaged.count == 1)
        try store.remove(try #require(enrolment.damaged.first).identifier)
        #expect(try store.enrolment().damaged.isEmpty)
        #expect(fixture.exists(fixture.file("elsewhere")))
    }

    @Test("a print with a missing file, or another account's, is damaged; its finger is known")
    func gone() throws {
        let bob = try fixture.state.makeAccount("bob", uid: 1001, now: StateFixture.now)
        var template: [UInt8] = [1, 2, 3]
        let theirs = try bob.prints.add(
            &template, finger: .leftThumb, reader: StateFixture.reader, now: StateFixture.now)
        let ours = try fixture.add(1, .rightIndex)
        let path = fixture.file("prints/" + hexadecimal(ours))
        let good = try fixture.contents(path)
        try fixture.overwrite(
            path,
            try fixture.contents(
                fixture.scratch.at("private/accounts/1001/prints/" + hexadecimal(theirs))))
        try expectDamaged(ours, .rightIndex)
        #expect(unsafe unlink(path) == 0)
        try expectDamaged(ours, .rightIndex)
        try fixture.overwrite(path, good)
        #expect(try store.enrolment().prints.map(\.identifier) == [ours])
        // Enrolled anew, the finger takes the damaged one's place.
        #expect(unsafe unlink(path) == 0)
        let new = try fixture.add(2, .rightIndex)
        #expect(try store.enrolment().prints.map(\.identifier) == [new])
        #expect(try store.enrolment().damaged.isEmpty)
    }

    private func expectDamaged(_ identifier: PrintID, _ finger: Finger) throws {
        let enrolment = try store.enrolment()
        #expect(enrolment.isEmpty && enrolment.damaged.count == 1)
        #expect(enrolment.damaged.first?.identifier == identifier)
        #expect(enrolment.damaged.first?.finger == finger)
    }

    @Test("a file that is not listed counts for nothing, and recovery removes it")
    func unlisted() throws {
        let kept = try fixture.add(1, .rightIndex)
        let deleted = try fixture.add(2, .leftIndex)
        let path = fixture.file("prints/" + hexadecimal(deleted))
        let good = try fixture.contents(path)
        try store.remove(deleted)
        #expect(!fixture.exists(path))
        let before = try state()
        try fixture.overwrite(path, good)
        try fixture.overwrite(fixture.file("prints/" + String(repeating: "0", count: 32)), [1])
        try fixture.overwrite(fixture.file("prints/notes"), [1])
        #expect(try state() == before)
        #expect(try store.enrolment().prints.map(\.identifier) == [kept])
        #expect(try store.enrolment().damaged.isEmpty)
        try fixture.account.recover()
        #expect(try files() == [hexadecimal(kept)])
        #expect(try state() == before)
    }

    @Test("there are as many prints as fingers, and what is not there is not removed")
    func limits() throws {
        for finger in Finger.allCases { try fixture.add(finger.rawValue, finger) }
        try fixture.add(11, .rightIndex)
        #expect(try store.enrolment().prints.count == PrintStore.limit)
        let unknown = PrintID.sample(repeating: 0)
        #expect(throws: StoreFault.unknownPrint) { try store.remove(unknown) }
        let one = try #require(try store.enrolment().prints.first).identifier
        #expect(throws: StoreFault.unknownPrint) { try store.draft(removing: [one, unknown]) }
        var template: [UInt8] = [1]
        let long = [UInt8](repeating: 65, count: 257)
        #expect(throws: StoreFault.readerNameTooLong) {
            try store.add(&template, finger: .leftThumb, reader: long, now: StateFixture.now)
        }
        #expect(template.isEmpty)
        try store.commit(
            try store.draft(removing: store.enrolment().prints.map(\.identifier)))
        #expect(try store.enrolment().isEmpty && files().isEmpty)
        #expect(try fixture.account.generation() == UInt64(PrintStore.limit) + 2)
    }

    private var store: PrintStore { fixture.account.prints }

    private func files() throws -> [String] { Layout.entries(of: fixture.file("prints")) }

    private func state() throws -> [UInt8] {
        try fixture.account.prints.enrolment().state.digest
    }
}

/// Bytes as lower-case hexadecimal digits.
func hexadecimal(_ id: some FixedBytes) -> String {
    String(decoding: id.hexadecimal, as: UTF8.self)
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
