// SPDX-License-Identifier: Apache-2.0
import Crypto
import Glibc
import Posix
import Sealing
import SignedFormats
import State
import TestSupport
import Testing

@Suite("the receipts on disk")
struct ReceiptLogTests {
    let receipts: ReceiptFixture

    init() throws { receipts = try ReceiptFixture() }

    @Test("the first receipt follows zeros, each other one the receipt before it")
    func chains() throws {
        let first = try receipts.log.prepare()
        #expect(first == reservation(1, [UInt8](repeating: 0, count: 32)))
        let text = try receipts.receipt(first)
        try receipts.log.append(text)
        try receipts.log.flush()
        let second = try receipts.log.prepare()
        #expect(second == reservation(2, try SHA256.digest(text)))
        for number in 0..<7 { try receipts.login(service: "s\(number)") }
        #expect(try receipts.verify(try receipts.texts()) == 8)
    }

    @Test("the counter grows over touches that came to nothing, restarts, and lost flushes")
    func grows() throws {
        #expect(try receipts.log.prepare().counter == 1)
        #expect(try receipts.log.prepare().counter == 2)
        let again = try reopened()
        #expect(try again.prepare().counter == 3)
        let text = try receipts.receipt(try again.prepare())
        try again.append(text)
        // Not flushed: the process dies, the text had reached the disk.
        let next = try reopened().prepare()
        #expect(next == reservation(5, try SHA256.digest(text)))
    }

    @Test("a text that never reached the disk before the flush is not a gap")
    func lostAppend() throws {
        let kept = try receipts.login()
        let size = try receipts.fixture.contents(receipts.path).count
        try receipts.login(flushing: false)
        #expect(unsafe truncate(receipts.path, size) == 0)
        let next = try reopened().prepare()
        #expect(next == reservation(3, try SHA256.digest(kept)))
    }

    @Test("a torn tail is cut, wherever it was torn")
    func tornTail() throws {
        let kept = try receipts.login()
        let whole = try receipts.fixture.contents(receipts.path)
        let next = try receipts.receipt(try receipts.log.prepare())
        for count in [1, 20, next.count / 2, next.count - 30, next.count - 1] {
            try receipts.fixture.overwrite(receipts.path, whole + next[..<count])
            let place = try reopened().prepare()
            #expect(place.isIntact)
            #expect(place.previous == (try SHA256.digest(kept)))
            #expect(try receipts.fixture.contents(receipts.path) == whole)
        }
    }

    @Test("a first receipt that was torn is cut to nothing")
    func tornFirst() throws {
        let text = try receipts.receipt(try receipts.log.prepare())
        try receipts.fixture.overwrite(receipts.path, Array(text.dropLast()))
        let place = try reopened().prepare()
        #expect(place == reservation(2, [UInt8](repeating: 0, count: 32)))
        #expect(try receipts.fixture.contents(receipts.path) == [])
    }

    @Test("a removed tail is noticed at once and stays to be seen")
    func removedTail() throws {
        try receipts.login()
        let size = try receipts.fixture.contents(receipts.path).count
        let removed = try receipts.login()
        #expect(unsafe truncate(receipts.path, size) == 0)
        #expect(throws: ChainFault.tailMissing) { try receipts.verify(try receipts.texts()) }
        let log = try reopened()
        let place = try log.prepare()
        #expect(!place.isIntact)
        #expect(place.previous == (try SHA256.digest(removed)))
        let text = try receipts.receipt(place)
        try log.append(text)
        try log.flush()
        #expect(throws: ChainFault.broken(index: 1)) {
            try receipts.verify(try receipts.texts())
        }
    }

    @Test("a lost or damaged counter continues far beyond, and says so")
    func lostCounter() throws {
        for number in 0..<3 { try receipts.login(service: "s\(number)") }
        for damage in ["", "signet-counter: 1\ncounter: 1\n", nil] {
            let before = try receipts.texts().count
            if let damage {
                try receipts.fixture.overwrite(receipts.fixture.file("counter"), Array(damage.utf8))
            } else {
                #expect(unsafe unlink(receipts.fixture.file("counter")) == 0)
            }
            let log = try reopened()
            let place = try log.prepare()
            #expect(place.counter > 1_000_000)
            #expect(!place.isIntact)
            try log.append(try receipts.receipt(place))
            try log.flush()
            #expect(try receipts.verify(try receipts.texts()) == before + 1)
        }
    }

    @Test("the latest moment is the latest of all receipts, not the last one's")
    func latest() throws {
        #expect(try receipts.log.latest() == nil)
        let (now, later) = (StateFixture.now, Instant(seconds: StateFixture.now.seconds + 7_200))
        try receipts.login()
        #expect(try receipts.log.latest() == now)
        try receipts.login(issued: later)
        try receipts.login()
        #expect(try receipts.log.latest() == later)
        // Also where the daemon died between a receipt and its flush, and begins anew.
        let latest = Instant(seconds: later.seconds + 1)
        try receipts.login(flushing: false, issued: latest)
        let again = try reopened()
        #expect(try again.latest() == latest)
        _ = try again.prepare()
        #expect(try reopened().latest() == latest)
        try receipts.login()
        #expect(try reopened().latest() == latest)
        #expect(try receipts.verify(try receipts.texts()) == 5)
        // Where it was lost, and in a record of the time before it, the last receipt's.
        let text = String(decoding: try receipts.fixture.contents(counter), as: UTF8.self)
        let line = "latest: \(String(decoding: latest.text, as: UTF8.self))\n"
        let older = text.replacing(line, with: "")
        try #require(older != text)
        try receipts.fixture.overwrite(counter, Array(older.utf8))
        #expect(try reopened().latest() == now)
        #expect(unsafe unlink(counter) == 0)
        #expect(try reopened().latest() == now)
    }

    @Test("a wrong latest moment is corrected by a caller that knows, and not by a few seconds")
    func corrected() throws {
        let (now, ahead) = (StateFixture.now, Instant(seconds: StateFixture.now.seconds + 400))
        try receipts.log.correct(to: now, leeway: 300)
        #expect(try receipts.log.latest() == nil)
        try receipts.login(issued: ahead)
        try receipts.log.correct(to: Instant(seconds: now.seconds + 100), leeway: 300)
        #expect(try receipts.log.latest() == ahead)
        try receipts.log.correct(to: Instant(seconds: ahead.seconds + 1_000), leeway: 300)
        #expect(try receipts.log.latest() == ahead)
        try receipts.log.correct(to: now, leeway: 300)
        #expect(try reopened().latest() == now)
        // Nothing else is changed by it.
        try receipts.login()
        #expect(try receipts.verify(try receipts.texts()) == 2)
    }

    private var counter: String { receipts.fixture.file("counter") }

    @Test("the cost of a preparation does not depend on the length")
    func flat() throws {
        // Not a timed test: a log of 20 MB whose beginning is no receipt at all works as well.
        let junk = [UInt8](repeating: 65, count: 20 << 20)
        let text = try receipts.login()
        let end = Array("\n-----END SSH SIGNATURE-----\n".utf8)
        try receipts.fixture.overwrite(receipts.path, junk + end + text)
        let place = try reopened().prepare()
        #expect(place.isIntact)
        #expect(place.previous == (try SHA256.digest(text)))
    }

    @Test("an invalid receipt is not appended")
    func malformed() throws {
        let text = try receipts.receipt(try receipts.log.prepare())
        for bad in [[], Array(text.dropLast()), text + text, Array(text.dropFirst()), text + [10]] {
            #expect(throws: StoreFault.damaged(path: receipts.path)) {
                try receipts.log.append(bad)
            }
        }
        #expect(try receipts.fixture.contents(receipts.path) == [])
    }

    @Test("a full disk while reserving, appending or flushing loses nothing and repeats no counter")
    func fullDisk() throws {
        try receipts.login()
        var highest: UInt64 = 1
        for step in 0..<40 {
            let before = try receipts.texts()
            let plan = FaultPlan()
            let log = try receipts.fixture.account(failing: plan).receipts()
            plan.arm(after: step)
            let done: Void? = try? turn(log)
            plan.disarm()
            #expect(try receipts.texts().starts(with: before))
            let place = try reopened().prepare()
            #expect(place.counter > highest)
            #expect(place.isIntact)
            highest = place.counter
            if done != nil {
                _ = try receipts.verify(try receipts.texts())
                return
            }
        }
        Issue.record("it never came to an end")
    }

    @Test("pages are read from where the last one ended, and what follows the last is reported")
    func pages() throws {
        var texts: [[UInt8]] = []
        for number in 0..<5 { texts.append(try receipts.login(service: "s\(number)")) }
        let first = try receipts.log.read(from: 0, limit: 2)
        #expect(first.entries == Array(texts[..<2]))
        let second = try receipts.log.read(from: first.next, limit: 100)
        #expect(second.entries == Array(texts[2...]))
        #expect(second.remainder == 0)
        let whole = try receipts.fixture.contents(receipts.path)
        try receipts.fixture.overwrite(receipts.path, whole + [1, 2, 3])
        #expect(try reopened().read(from: second.next, limit: 9).remainder == 3)
    }

    private func turn(_ log: ReceiptLog) throws {
        let text = try receipts.receipt(try log.prepare())
        try log.append(text)
        try log.flush()
    }

    private func reopened() throws -> ReceiptLog {
        let state = try StateDirectory.open(receipts.fixture.scratch.path)
        return try #require(try state.account(StateFixture.alice, uid: StateFixture.uid)).receipts()
    }

    private func reservation(_ counter: UInt64, _ previous: [UInt8]) -> Reservation {
        Reservation(counter: counter, previous: previous, isIntact: true)
    }
}
