// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import TestSupport
import Testing

@testable import Gate

/// What those who wait were told, and who has had a turn.
@ServiceActor
private final class Record {
    var told: [String: [Notice]] = [:]
    var turns: [String] = []
    var held: [String: HeldTurn] = [:]
    var ended: Set<String> = []
    /// Clients that do not show what they are asked to show.
    var frozen: Set<String> = []

    func subjects(_ who: String) -> [String] {
        told[who, default: []].map { String(decoding: $0.subject ?? [], as: UTF8.self) }
    }
}

@Suite("the queue at the readers", .serialized, .timeLimit(.minutes(5)))
struct TouchQueueTests {
    init() { MainLoop.runInBackground() }

    private func applicant(
        _ who: String, by uid: UInt32, for account: UInt32?, _ purpose: Applicant.Purpose,
        _ record: Record
    ) -> Applicant {
        let requester = Requester(uid: uid, name: AccountName(who))
        return Applicant(purpose, account: account ?? uid, asker: Asker(who, by: requester)) {
            record.told[who, default: []].append($0)
            guard $0.wantsAcknowledgement, record.frozen.contains(who) else { return true }
            await untilCancelled()
            return false
        }
    }

    /// Asks for a turn in a task of its own, which waits or has its turn when this returns.
    @ServiceActor @discardableResult
    private func ask(
        _ queue: TouchQueue, _ who: String, by uid: UInt32, for account: UInt32? = nil,
        _ record: Record, _ purpose: Applicant.Purpose = .touch,
        within limit: Duration = .seconds(30)
    ) async -> Task<Denial?, Never> {
        let applicant = applicant(who, by: uid, for: account, purpose, record)
        let waiting = queue.waiting
        let task = Task { @ServiceActor () -> Denial? in
            defer { record.ended.insert(who) }
            do throws(Denial) {
                record.held[who] = HeldTurn(try await queue.turn(for: applicant, within: limit))
                record.turns.append(who)
                return nil
            } catch { return error }
        }
        while queue.waiting == waiting, !record.ended.contains(who) {
            try? await Timer.sleep(for: .zero)
        }
        return task
    }

    @Test("turns come in order, and every waiting request learns whose turn it is")
    @ServiceActor
    func order() async {
        let (queue, record) = (TouchQueue(limit: 8), Record())
        #expect(await ask(queue, "a", by: 1, record).value == nil)
        let second = await ask(queue, "b", by: 2, record)
        let third = await ask(queue, "c", by: 3, record)
        #expect(record.turns == ["a"])
        record.held["a"] = nil
        #expect(await second.value == nil)
        record.held["b"] = nil
        #expect(await third.value == nil)
        record.held["c"] = nil
        #expect(record.turns == ["a", "b", "c"])
        #expect(record.subjects("b") == ["a (a)"] && record.subjects("c") == ["a (a)", "b (b)"])
        #expect(await ask(queue, "d", by: 4, record).value == nil)
    }

    // Issue: three `su alice` of bob's filled her share.
    @Test("shares are the requester's, whichever account they ask for")
    @ServiceActor
    func fairness() async {
        let (queue, record) = (TouchQueue(limit: 8), Record())
        await ask(queue, "x", by: 9, record, .upkeep)
        let first = await ask(queue, "b1", by: 2, for: 1, record)
        await ask(queue, "b2", by: 2, for: 1, record)
        let tooMany = await ask(queue, "b3", by: 2, for: 1, record)
        #expect(await tooMany.value == Denial(.queueFull, subject: Bytes("x (x)".utf8)))
        let own = await ask(queue, "a1", by: 1, record)
        record.held["x"] = nil
        #expect(await first.value == nil)
        record.held["b1"] = nil
        // Not the requester who has just had a turn, though they came first.
        #expect(await own.value == nil)
        #expect(record.turns == ["x", "b1", "a1"])
    }

    @Test("no request waits beyond the limit; with a limit of zero none waits at all")
    @ServiceActor
    func limit() async {
        let (queue, record) = (TouchQueue(limit: 2), Record())
        for (index, who) in ["a", "b", "c"].enumerated() {
            await ask(queue, who, by: UInt32(index), record)
        }
        let late = await ask(queue, "d", by: 9, record)
        #expect(await late.value?.reason == .queueFull)
        let (none, others) = (TouchQueue(limit: 0), Record())
        await ask(none, "a", by: 1, others)
        #expect(await ask(none, "b", by: 2, others).value?.reason == .queueFull)
    }

    @Test("a request that leaves the queue is skipped, and frees its place")
    @ServiceActor
    func cancellation() async {
        let (queue, record) = (TouchQueue(limit: 2), Record())
        await ask(queue, "a", by: 1, record)
        let gone = await ask(queue, "b", by: 2, record)
        let stays = await ask(queue, "c", by: 3, record)
        gone.cancel()
        #expect(await gone.value?.reason == .cancelled)
        let next = await ask(queue, "d", by: 4, record)
        record.held["a"] = nil
        #expect(await stays.value == nil)
        record.held["c"] = nil
        #expect(await next.value == nil)
        #expect(record.turns == ["a", "c", "d"])
    }

    @Test("a request that waits too long is refused, and delays no other")
    @ServiceActor
    func timeout() async {
        let (queue, record) = (TouchQueue(limit: 2), Record())
        await ask(queue, "a", by: 1, record)
        let brief = await ask(queue, "b", by: 2, record, within: .milliseconds(5))
        #expect(await brief.value?.reason == .timedOut)
        record.held["a"] = nil
        #expect(await ask(queue, "c", by: 3, record).value == nil)
    }

    @Test("touches come before enrolments and upkeep")
    @ServiceActor
    func precedence() async {
        let (queue, record) = (TouchQueue(limit: 8), Record())
        await ask(queue, "a", by: 1, record)
        await ask(queue, "enrol", by: 2, record, .enrolment)
        let touch = await ask(queue, "b", by: 3, record)
        record.held["a"] = nil
        #expect(await touch.value == nil)
        #expect(record.turns == ["a", "b"])
    }

    @Test("reports whether the readers are in use")
    @ServiceActor
    func use() async {
        var heard: [Bool] = []
        let (queue, record) = (TouchQueue(limit: 2) { heard.append($0) }, Record())
        await ask(queue, "a", by: 1, record)
        let second = await ask(queue, "b", by: 2, record)
        record.held["a"] = nil
        #expect(await second.value == nil)
        #expect(heard == [true])
        record.held["b"] = nil
        while heard.count < 2 { try? await Timer.sleep(for: .zero) }
        #expect(heard == [true, false])
    }
}
