// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Glibc
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State
import TestSupport
import Testing

@Suite("a receipt that was granted")
struct ReceiptGrantTests {
    let receipts: ReceiptFixture

    init() throws { receipts = try ReceiptFixture() }

    @Test("says so behind its text, and the next receipt follows both")
    func chains() throws {
        let first = try receipts.granted()
        #expect(first.suffix(12).elementsEqual("\ngranted: 1\n".utf8))
        let second = try receipts.login()
        #expect(try #require(ReceiptEntry(second)).grantedCounter == nil)
        let third = try receipts.granted()
        #expect(try receipts.texts() == [first, second, third])
        #expect(try receipts.verify(try receipts.texts()) == 3)
        #expect(try receipts.log.prepare().previous == (try SHA256.digest(third)))
        #expect(try #require(ReceiptEntry(third)).grantedCounter == 3)
    }

    @Test("is verified by stock ssh-keygen as it stands, and not when it is altered")
    func stock() throws {
        let entry = try receipts.granted()
        let scratch = try Scratch()
        try scratch.write("signers", try receipts.fixture.account.credential.signers())
        let statement = try #require(ReceiptEntry(entry)).statement
        // All that stands behind the statement.
        try scratch.write("signature", Array(entry.dropFirst(statement.count)))
        try scratch.write("statement", statement)
        let text = String(decoding: statement, as: UTF8.self)
        try scratch.write("altered", Array(text.replacing("sudo id", with: "sudo su").utf8))
        for (name, ending) in [("statement", 0), ("altered", 255)] {
            let check = try TestSupport.Program(
                Command([
                    "sh", "-c",
                    """
                    cd \(scratch.path) && exec ssh-keygen -Y verify -f signers -I alice \
                    -n login@signet -s signature <\(name)
                    """,
                ]))
            #expect(try check.expectEnd().ending == .exited(Int32(ending)), "\(name)")
        }
    }

    @Test("is on disk before that is reported; the chain's head follows with the flush")
    func durable() throws {
        let plan = FaultPlan()
        let log = try receipts.fixture.account(failing: plan).receipts()
        let place = try log.prepare()
        let text = try receipts.receipt(place)
        plan.arm(after: 100)
        try log.append(text)
        #expect(plan.reached == [.write, .writeHalf])
        log.beginSync()
        try log.granted(place.counter)
        #expect(plan.reached.suffix(3) == [.write, .writeHalf, .synchronise])
        #expect(try log.head().counter == 0, "not yet")
        // A power cut now loses neither, and goes on from there.
        let entry = text + ReceiptEntry.mark(place.counter)
        #expect(try receipts.texts() == [entry])
        let next = try reopened().prepare()
        #expect(next.isIntact)
        #expect(next.previous == (try SHA256.digest(entry)))
    }

    @Test("is granted once, as the newest, before it is flushed and before another place is taken")
    func once() throws {
        let log = receipts.log
        refused(log, 1)
        let first = try log.prepare()
        refused(log, first.counter)
        try log.append(try receipts.receipt(first))
        refused(log, first.counter + 1)
        refused(try reopened(), first.counter)
        try log.granted(first.counter)
        refused(log, first.counter)
        try log.flush()
        refused(log, first.counter)

        let second = try log.prepare()
        try log.append(try receipts.receipt(second))
        try log.flush()
        refused(log, second.counter)

        let third = try log.prepare()
        try log.append(try receipts.receipt(third))
        let fourth = try reopened().prepare()
        refused(log, third.counter)
        try log.flush()
        try log.append(try receipts.receipt(fourth))
        try log.granted(fourth.counter)
        try log.flush()
        #expect(try receipts.verify(try receipts.texts()) == 4)
        let marks = try receipts.texts().map { ReceiptEntry($0)?.grantedCounter }
        #expect(marks == [1, nil, nil, 4])
    }

    @Test("a line that a power cut tore is cut off: it was not granted")
    func torn() throws {
        let first = try receipts.granted()
        let second = try receipts.login(flushing: false)
        let whole = try receipts.fixture.contents(receipts.path)
        let mark = ReceiptEntry.mark(2)
        for count in 0..<mark.count {
            try receipts.fixture.overwrite(receipts.path, whole + mark[..<count])
            let place = try reopened().prepare()
            #expect(place.previous == (try SHA256.digest(second)), "\(count)")
            #expect(try receipts.fixture.contents(receipts.path) == whole, "\(count)")
            #expect(try receipts.texts() == [first, second])
        }
    }

    @Test("its line cannot be removed, forged, doubled, moved or altered unseen")
    func tampered() throws {
        let one = try receipts.granted()
        let two = try receipts.login()
        let three = try receipts.granted()
        let bare = { (entry: [UInt8], counter: UInt64) in
            Array(entry.dropLast(ReceiptEntry.mark(counter).count))
        }
        shows([bare(one, 1), two, three], .broken(index: 1))
        shows([one, two + ReceiptEntry.mark(2), three], .broken(index: 2))
        shows([one, two, bare(three, 3)], .broken(index: 2))
        shows([one + ReceiptEntry.mark(1), two, three], .malformed(index: 0))
        shows([one, two + ReceiptEntry.mark(3), three], .malformed(index: 1))
        shows([bare(one, 1) + ReceiptEntry.mark(2), two, three], .malformed(index: 0))
        shows([one, ReceiptEntry.mark(1) + two, three], .malformed(index: 1))
        for bad in ["granted: 01\n", "granted: \n", "granted: 1", "granted: 1\n\n", "Granted: 1\n"]
        {
            shows([bare(one, 1) + Array(bad.utf8), two, three], .malformed(index: 0))
        }
        // The newest that was not granted, too, once it is flushed.
        let four = try receipts.login()
        shows([one, two, three, four + ReceiptEntry.mark(4)], .broken(index: 3))
        #expect(try receipts.verify([one, two, three, four]) == 4)
    }

    @Test("what was done to the file is noticed with the next place")
    func tamperedFile() throws {
        let one = try receipts.granted()
        let text = Array(one.dropLast(ReceiptEntry.mark(1).count))
        for bad in [text, text + ReceiptEntry.mark(2)] {
            try receipts.fixture.overwrite(receipts.path, bad)
            let place = try reopened().prepare()
            #expect(!place.isIntact)
            #expect(place.previous == (try SHA256.digest(one)), "the gap stays")
        }
        // A second line is no entry's, and goes as what a crash left.
        try receipts.fixture.overwrite(receipts.path, one + ReceiptEntry.mark(1))
        #expect(try reopened().read(from: 0, limit: 9).remainder == 11)
        #expect(try reopened().prepare().isIntact)
        #expect(try receipts.texts() == [one])
    }

    @Test("is not granted if the disk fails, and nothing of it stays")
    func failing() throws {
        let first = try receipts.granted()
        for step in 0..<10 {
            let plan = FaultPlan()
            let log = try receipts.fixture.account(failing: plan).receipts()
            let place = try log.prepare()
            let text = try receipts.receipt(place)
            try log.append(text)
            plan.arm(after: step, times: 1)
            let granted: Void? = try? log.granted(place.counter)
            plan.disarm()
            let mark = granted == nil ? [] : ReceiptEntry.mark(place.counter)
            #expect(try receipts.texts().last == text + mark, "step \(step)")
            try log.flush()
            #expect(try receipts.verify(try receipts.texts()) == step + 2)
            #expect(try reopened().prepare().isIntact)
            if granted != nil {
                #expect(step == 3)
                #expect(try receipts.texts().first == first)
                return
            }
        }
        Issue.record("it never came to an end")
    }

    private func refused(_ log: ReceiptLog, _ counter: UInt64) {
        let before = try? receipts.fixture.contents(receipts.path)
        #expect(throws: StoreFault.changedMeanwhile) { try log.granted(counter) }
        #expect(before == (try? receipts.fixture.contents(receipts.path)))
    }

    private func shows(_ entries: [[UInt8]], _ fault: ChainFault) {
        #expect(throws: fault) { try receipts.verify(entries) }
    }

    private func reopened() throws -> ReceiptLog {
        let state = try StateDirectory.open(receipts.fixture.scratch.path)
        return try #require(try state.account(StateFixture.alice, uid: StateFixture.uid)).receipts()
    }
}
