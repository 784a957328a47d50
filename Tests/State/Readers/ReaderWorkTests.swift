// SPDX-License-Identifier: Apache-2.0
import Sealing
import State
import TestSupport
import Testing

@Suite("pending work on readers")
struct ReaderWorkTests {
    let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private func digest(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    private func storage(_ prints: [UInt8], serial: String? = nil) -> ReaderStorage {
        ReaderStorage(
            driver: "driver", device: "0", serial: serial, prints: prints.map(digest))
    }

    @Test("is found again as it was noted, and deleted when it is done")
    func kept() throws {
        #expect(try fixture.state.readerWork().isEmpty)
        var work = ReaderWork()
        work.enrolling = [storage([1, 2], serial: "a serial: %\n")]
        work.delete(storage([3]))
        work.delete(storage([4], serial: "1"))
        #expect(work.deleting == [storage([3, 4])])
        try fixture.state.keep(work)
        #expect(try fixture.state.readerWork() == work)
        work.enrolling = []
        work.deleted(storage([3, 4, 5]))
        #expect(work.isEmpty)
        try fixture.state.keep(work)
        #expect(try fixture.state.readerWork().isEmpty)
        #expect(!fixture.exists(fixture.scratch.at("private/reader-work")))
    }

    @Test("an enrolment that begins again never takes what the first one left for what was there")
    func again() {
        var work = ReaderWork()
        work.begin(on: storage([1, 2], serial: "a"))
        work.begin(on: storage([9], serial: "b"))
        // 3 was left by the first; 2 was deleted meanwhile by another program.
        work.begin(on: storage([1, 3], serial: "a"))
        #expect(work.enrolling == [storage([9], serial: "b"), storage([1], serial: "a")])
    }

    @Test("readers that were never seen again give way to the next one")
    func many() throws {
        var work = ReaderWork()
        for number in UInt8(0)..<40 { work.begin(on: storage([number], serial: "\(number)")) }
        #expect(work.enrolling.map(\.serial) == (32..<40).map { "\($0)" })
        try fixture.state.keep(work)
        #expect(try fixture.state.readerWork() == work)
    }

    @Test("a record that is cut, extended or not in its form says nothing")
    func damaged() throws {
        var work = ReaderWork()
        work.enrolling = [storage([1, 2])]
        try fixture.state.keep(work)
        let path = fixture.scratch.at("private/reader-work")
        let good = try fixture.contents(path)
        let swapped = ReaderStorage(
            driver: "driver", device: "0", serial: nil, prints: [digest(2), digest(1)])
        #expect(swapped == storage([1, 2]), "there is one order")
        let newer = Array("signet-reader-work: 2\n".utf8)
        for bad in [Array(good.dropLast()), good + [10], [], newer] {
            try fixture.overwrite(path, bad)
            #expect(try fixture.state.readerWork().isEmpty)
        }
    }

    @Test("noting it fails as a whole, or not at all")
    func faults() throws {
        var old = ReaderWork()
        old.delete(storage([1]))
        var new = ReaderWork()
        new.delete(storage([2]))
        for step in 0..<20 {
            try fixture.state.keep(old)
            let plan = FaultPlan()
            let state = try StateDirectory.open(fixture.scratch.path, faults: plan.faults)
            plan.arm(after: step)
            let done: Void? = try? state.keep(new)
            plan.disarm()
            let found = try fixture.state.readerWork()
            #expect(found == new || (done == nil && found == old))
            if done != nil { return }
        }
        Issue.record("it never came to an end")
    }

    @Test("more prints than a record can have are refused")
    func tooMany() throws {
        let many = ReaderStorage(
            driver: "driver", device: "0", serial: nil,
            prints: (0...ReaderStorage.limit).map { number in
                [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 0, count: 30)
            })
        var work = ReaderWork()
        work.delete(many)
        #expect(throws: StoreFault.tooManyStoredPrints) { try fixture.state.keep(work) }
        #expect(throws: StoreFault.tooManyStoredPrints) {
            _ = try fixture.account.credential.draft(
                try fixture.account.prints.enrolment(), covering: [many])
        }
    }

    @Test("the owner of a print is remembered, and an invalid record is ignored")
    func owners() throws {
        let owners = fixture.state.owners
        #expect(owners.hint(of: digest(1)) == nil)
        try owners.remember(1000, asOwnerOf: digest(1))
        try owners.remember(1001, asOwnerOf: digest(1))
        #expect(owners.hint(of: digest(1)) == 1001)
        #expect(owners.hint(of: digest(2)) == nil)
        let name = String(repeating: "01", count: 32)
        try fixture.overwrite(fixture.scratch.at("private/stored/" + name), Array("x".utf8))
        #expect(owners.hint(of: digest(1)) == nil)
        try owners.remember(nil, asOwnerOf: digest(1))
        try owners.remember(nil, asOwnerOf: digest(1))
        #expect(!fixture.exists(fixture.scratch.at("private/stored/" + name)))
    }
}
