import Glibc
import Posix
import Store
import TestSupport
import Testing
import Vault
import Wire

@Suite("prints on disk")
struct PrintStoreTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    @Test("what was added is listed, with its description and template")
    func adds() throws {
        let one = try bench.add(1, .rightIndex)
        let two = try bench.add(2, .leftThumb)
        let enrolment = try bench.account.prints.enrolment()
        #expect(Set(enrolment.prints.map(\.identifier)) == [one, two])
        let print = try #require(enrolment.prints.first { $0.identifier == two })
        #expect(print.finger == .leftThumb)
        #expect(print.reader == Bench.reader)
        #expect(print.added == Bench.now)
        #expect(print.template == [UInt8](repeating: 2, count: 500))
        #expect(enrolment.damaged.isEmpty)
    }

    @Test("every change has a generation and a state of its own, also going back to the same set")
    func generations() throws {
        var seen: [[UInt8]] = [try state()]
        let id = try bench.add(1)
        seen.append(try state())
        var template: [UInt8] = [9]
        try bench.account.prints.update(id, template: &template)
        #expect(template.isEmpty)
        seen.append(try state())
        try bench.account.prints.remove(id)
        seen.append(try state())
        try bench.add(1)
        seen.append(try state())
        try bench.account.prints.removeAll()
        seen.append(try state())
        #expect(Set(seen).count == seen.count)
        #expect(try bench.account.generation() == 5)
    }

    @Test("reading changes nothing")
    func reading() throws {
        try bench.add(1)
        let before = try state()
        #expect(try state() == before)
        let again = try StateDirectory.open(bench.scratch.path)
        let account = try #require(try again.account(Bench.alice, uid: Bench.uid))
        #expect(try account.prints.enrolment().state.digest == before)
    }

    @Test("the template is not on disk in the clear")
    func sealedAtRest() throws {
        let id = try bench.add(65)
        let text = try bench.contents(bench.file("prints/" + hexadecimal(id)))
        #expect(!String(decoding: text, as: UTF8.self).contains("AAAAAAAA"))
    }

    @Test("a print that was altered, swapped or renamed is damaged and left out")
    func damaged() throws {
        let one = hexadecimal(try bench.add(1, .rightIndex))
        let two = hexadecimal(try bench.add(2, .leftIndex))
        let before = try state()
        let first = try bench.contents(bench.file("prints/" + one))
        let second = try bench.contents(bench.file("prints/" + two))
        var altered = first
        altered[altered.count - 20] ^= 1
        let relabelled = first.replacing(Array("right-index".utf8), with: Array("left-thumb".utf8))
        for bad in [
            altered, second, relabelled, [], first + first, Array(first.dropLast()), first + [0],
        ] {
            try bench.overwrite(bench.file("prints/" + one), bad)
            let enrolment = try bench.account.prints.enrolment()
            #expect(enrolment.damaged.map(\.name) == [one])
            #expect(enrolment.prints.map { hexadecimal($0.identifier) } == [two])
            #expect(enrolment.state.digest != before)
        }
        try bench.overwrite(bench.file("prints/" + one), first)
        #expect(try state() == before)
    }

    @Test("a print that others may write to, or a link, is damaged")
    func untrusted() throws {
        let one = bench.file("prints/" + hexadecimal(try bench.add(1)))
        #expect(unsafe chmod(one, 0o620) == 0)
        #expect(try bench.account.prints.enrolment().damaged.count == 1)
        #expect(unsafe chmod(one, 0o600) == 0)
        #expect(try bench.account.prints.enrolment().damaged.isEmpty)
        #expect(unsafe rename(one, bench.file("elsewhere")) == 0)
        #expect(unsafe symlink(bench.file("elsewhere"), one) == 0)
        let enrolment = try bench.account.prints.enrolment()
        #expect(enrolment.damaged.count == 1)
        try bench.account.prints.remove(try #require(enrolment.damaged.first))
        #expect(try bench.account.prints.enrolment().damaged.isEmpty)
        #expect(bench.exists(bench.file("elsewhere")))
    }

    @Test("another account's print is damaged here")
    func otherAccount() throws {
        let bob = try bench.state.makeAccount(Array("bob".utf8), uid: 1001, now: Bench.now)
        let id = hexadecimal(try bench.add(1))
        _ = try bob.prints.enrolment()
        try bench.overwrite(
            bench.scratch.at("private/accounts/1001/prints/" + id),
            try bench.contents(bench.file("prints/" + id)))
        let enrolment = try bob.prints.enrolment()
        #expect(enrolment.isEmpty)
        #expect(enrolment.damaged.map(\.name) == [id])
        #expect(enrolment.damaged.map(\.finger) == [.rightIndex])
    }

    @Test("there are as many prints as fingers, and what is not there is not removed")
    func limits() throws {
        for finger in Finger.allCases { try bench.add(finger.rawValue, finger) }
        #expect(throws: StoreFault.tooManyPrints) { try bench.add(11) }
        #expect(throws: StoreFault.unknownPrint) {
            try bench.account.prints.remove([UInt8](repeating: 0, count: 16))
        }
        var template: [UInt8] = [1]
        #expect(throws: StoreFault.unknownPrint) {
            try bench.account.prints.update([1, 2], template: &template)
        }
    }

    @Test("an interrupted change leaves the old set or the new one, never under a used generation")
    func interrupted() throws {
        try bench.add(1)
        for step in 0..<20 {
            let before = try bench.account.prints.enrolment()
            let plan = FaultPlan()
            let account = try bench.account(failing: plan)
            plan.arm(after: step)
            var template = [UInt8](repeating: 7, count: 100)
            let added = try? account.prints.add(
                &template, finger: .leftThumb, reader: Bench.reader, now: Bench.now)
            let after = try bench.account.prints.enrolment()
            #expect(after.damaged.isEmpty)
            #expect(after.state.generation >= before.state.generation)
            let isSame = after.prints.map(\.identifier) == before.prints.map(\.identifier)
            if !isSame {
                #expect(after.prints.count == before.prints.count + 1)
                #expect(after.state.generation > before.state.generation)
            }
            if added != nil { return }
            if !isSame {
                for print in after.prints where print.finger == .leftThumb {
                    try bench.account.prints.remove(print.identifier)
                }
            }
        }
        Issue.record("it never came to an end")
    }

    private func state() throws -> [UInt8] {
        try bench.account.prints.enrolment().state.digest
    }
}

/// Bytes as lower-case hexadecimal digits.
func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
