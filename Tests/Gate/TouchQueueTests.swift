// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix
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

@Suite("the queue at the readers", .serialized, .timeLimit(.minutes(1)))
struct TouchQueueTests {
    init() { MainLoop.runInBackground() }

    private func applicant(
        _ who: String, by uid: UInt32, for account: UInt32?, _ purpose: Applicant.Purpose,
        _ record: Record
    ) -> Applicant {
        let requester = Requester(uid: uid, name: Bytes(who.utf8))
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

    @Test("turns come in order, and each who waits is told whose turn it is")
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

    @Test("beyond the limit nobody waits; with a limit of none nobody waits at all")
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

    @Test("who goes while waiting is passed over, and gives the place back")
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

    @Test("who waits longer than they may is told so, and is in nobody's way")
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

    @Test("tells whether the readers are in use")
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

@Suite("two requests for one account", .serialized, .timeLimit(.minutes(1)))
struct ContentionTests {
    init() { MainLoop.runInBackground() }

    /// A client that shows what it is asked to, or does not.
    @ServiceActor private final class Screen {
        var shown: [Notice] = []
        var isFrozen = false

        func show(_ notice: Notice) async -> Bool {
            shown.append(notice)
            guard notice.wantsAcknowledgement, isFrozen else { return true }
            await untilCancelled()
            return false
        }
    }

    private func applicant(
        _ command: String, by uid: UInt32, _ screen: Screen, _ purpose: Applicant.Purpose = .touch
    ) -> Applicant {
        let asker = Asker(
            service: Bytes("sudo".utf8), terminal: [], purpose: Bytes(command.utf8),
            by: Requester(uid: uid, name: Bytes("user\(uid)".utf8)))
        return Applicant(purpose, account: 1, asker: asker) { await screen.show($0) }
    }

    @ServiceActor
    private func join(
        _ queue: TouchQueue, _ applicant: Applicant
    ) async -> Task<HeldTurn?, Never> {
        let waiting = queue.waiting
        let task = Task { @ServiceActor in
            try? HeldTurn(await queue.turn(for: applicant, within: .seconds(30)))
        }
        while queue.waiting == waiting { try? await Timer.sleep(for: .zero) }
        return task
    }

    private var end: Duration { Clock.system.sinceBoot() + .seconds(30) }

    @Test("end the scan, and go on when both prompts say so, with user and command")
    @ServiceActor
    func both() async throws {
        let queue = TouchQueue(limit: 4)
        let (first, second) = (Screen(), Screen())
        let turn = HeldTurn(
            try await queue.turn(for: applicant("sudo id", by: 1, first), within: .seconds(1)))
        let scan = Interruption()
        queue.beginScan(turn.turn, interruptedBy: scan)
        let other = await join(queue, applicant("su alice", by: 2, second))
        let isContended = queue.isContended(turn.turn)
        #expect(scan.isRaised && isContended)
        try await queue.settleContention(of: turn.turn, until: end, clock: .system)
        let isStill = queue.isContended(turn.turn)
        #expect(!isStill)
        #expect(first.shown.map(\.kind) == [.contended])
        #expect(first.shown.first?.subject == Bytes("su alice (user2)".utf8))
        #expect(second.shown.map(\.kind) == [.waiting])
        #expect(second.shown.first?.subject == Bytes("sudo (user1)".utf8))
        #expect((first.shown + second.shown).filter { !$0.wantsAcknowledgement }.isEmpty)
        other.cancel()
    }

    @Test("a request that does not show that it waits loses its place, and holds nobody up")
    @ServiceActor
    func frozenNewcomer() async throws {
        let queue = TouchQueue(limit: 4, showing: .milliseconds(5))
        let (first, second) = (Screen(), Screen())
        second.isFrozen = true
        let turn = HeldTurn(
            try await queue.turn(for: applicant("sudo id", by: 1, first), within: .seconds(1)))
        let other = await join(queue, applicant("su alice", by: 2, second))
        try await queue.settleContention(of: turn.turn, until: end, clock: .system)
        #expect(first.shown.isEmpty)
        #expect(await other.value == nil)
    }

    @Test("a prompt that does not show the other request takes no finger")
    @ServiceActor
    func frozenHolder() async throws {
        let queue = TouchQueue(limit: 4)
        let (first, second) = (Screen(), Screen())
        first.isFrozen = true
        let turn = HeldTurn(
            try await queue.turn(for: applicant("sudo id", by: 1, first), within: .seconds(1)))
        let other = await join(queue, applicant("su alice", by: 2, second))
        let soon = Clock.system.sinceBoot() + .milliseconds(20)
        await #expect(throws: Denial(.timedOut)) {
            try await queue.settleContention(of: turn.turn, until: soon, clock: .system)
        }
        other.cancel()
    }

    @Test("a second newcomer does not end the holder, whose prompt is told of the first")
    @ServiceActor
    func twoNewcomers() async throws {
        let queue = TouchQueue(limit: 8)
        let (first, second, third) = (Screen(), Screen(), Screen())
        first.isFrozen = true
        let turn = HeldTurn(
            try await queue.turn(for: applicant("sudo id", by: 1, first), within: .seconds(1)))
        let one = await join(queue, applicant("su alice", by: 2, second))
        var outcome: Denial??
        let end = end
        onService {
            do throws(Denial) {
                try await queue.settleContention(of: turn.turn, until: end, clock: .system)
                outcome = .some(nil)
            } catch { outcome = error }
        }
        while first.shown.isEmpty { try? await Timer.sleep(for: .zero) }
        let other = await join(queue, applicant("su alice", by: 3, third))
        while third.shown.isEmpty { try? await Timer.sleep(for: .zero) }
        try? await Timer.sleep(for: .milliseconds(20))
        #expect(outcome == nil)
        // Sleep is another matter.
        queue.interrupt()
        while outcome == nil { try? await Timer.sleep(for: .zero) }
        #expect(outcome == Denial(.cancelled))
        one.cancel()
        other.cancel()
    }

    @Test("a requester who does not show that they wait stops one scan and no other")
    @ServiceActor
    func flapping() async throws {
        let queue = TouchQueue(limit: 8, showing: .milliseconds(5))
        let (first, silent, honest) = (Screen(), Screen(), Screen())
        silent.isFrozen = true
        let turn = HeldTurn(
            try await queue.turn(for: applicant("sudo id", by: 1, first), within: .seconds(1)))
        _ = await join(queue, applicant("su alice", by: 2, silent)).value
        try await queue.settleContention(of: turn.turn, until: end, clock: .system)
        let scan = Interruption()
        queue.beginScan(turn.turn, interruptedBy: scan)
        for _ in 0..<3 { _ = await join(queue, applicant("su alice", by: 2, silent)).value }
        #expect(!scan.isRaised && first.shown.isEmpty)
        // Where one of theirs shows that it waits, both prompts have to.
        let other = await join(queue, applicant("su alice", by: 2, honest))
        while !scan.isRaised { try? await Timer.sleep(for: .zero) }
        try await queue.settleContention(of: turn.turn, until: end, clock: .system)
        #expect(first.shown.map(\.kind) == [.contended])
        other.cancel()
    }

    @Test("an enrolment and upkeep are no second request")
    @ServiceActor
    func enrolment() async throws {
        let queue = TouchQueue(limit: 4)
        let (first, second) = (Screen(), Screen())
        let turn = HeldTurn(
            try await queue.turn(for: applicant("sudo id", by: 1, first), within: .seconds(1)))
        let other = await join(queue, applicant("", by: 2, second, .enrolment))
        let isContended = queue.isContended(turn.turn)
        #expect(!isContended)
        other.cancel()
    }
}

@Suite("an enrolment that nobody touches for", .serialized, .timeLimit(.minutes(1)))
struct YieldingTests {
    init() { MainLoop.runInBackground() }

    @ServiceActor
    private func applicant(_ purpose: Applicant.Purpose, _ uid: UInt32) -> Applicant {
        Applicant(
            purpose, account: uid,
            asker: Asker("test", by: Requester(uid: uid, name: Bytes("u".utf8)))
        ) { _ in true }
    }

    @Test("gives way to a touch after a while, and not to another enrolment")
    @ServiceActor
    func yields() async throws {
        let queue = TouchQueue(limit: 4, patience: .milliseconds(5))
        let turn = HeldTurn(
            try await queue.turn(for: applicant(.enrolment, 1), within: .seconds(1)))
        let interruption = Interruption()
        queue.mayInterrupt(turn.turn, by: interruption)
        let another = Task { @ServiceActor in
            try? HeldTurn(await queue.turn(for: applicant(.enrolment, 2), within: .seconds(30)))
        }
        while queue.waiting < 1 { try? await Timer.sleep(for: .zero) }
        try? await Timer.sleep(for: .milliseconds(20))
        #expect(!interruption.isRaised)
        let login = Task { @ServiceActor in
            try? HeldTurn(await queue.turn(for: applicant(.touch, 3), within: .seconds(30)))
        }
        while !interruption.isRaised { try? await Timer.sleep(for: .zero) }
        let hasYielded = queue.hasYielded(turn.turn)
        #expect(hasYielded)
        another.cancel()
        login.cancel()
    }

    @Test(
        "an observation gives way to anything else at once, and to no other observation",
        arguments: [Applicant.Purpose.touch, .enrolment, .upkeep])
    @ServiceActor
    func observation(other: Applicant.Purpose) async throws {
        let queue = TouchQueue(limit: 8, patience: .seconds(60))
        let turn = HeldTurn(
            try await queue.turn(for: applicant(.observation, 0), within: .seconds(1)))
        let interruption = Interruption()
        queue.mayInterrupt(turn.turn, by: interruption)
        let second = Task { @ServiceActor in
            try? HeldTurn(await queue.turn(for: applicant(.observation, 0), within: .seconds(30)))
        }
        while queue.waiting < 1 { try? await Timer.sleep(for: .zero) }
        try? await Timer.sleep(for: .milliseconds(5))
        #expect(!interruption.isRaised)
        let waiting = Task { @ServiceActor in
            try? HeldTurn(await queue.turn(for: applicant(other, 3), within: .seconds(30)))
        }
        while queue.waiting < 2 { try? await Timer.sleep(for: .zero) }
        #expect(interruption.isRaised)
        let hasYielded = queue.hasYielded(turn.turn)
        #expect(hasYielded)
        second.cancel()
        waiting.cancel()
    }

    @Test("does not give way while fingers come")
    @ServiceActor
    func active() async throws {
        let queue = TouchQueue(limit: 4, patience: .seconds(60))
        let turn = HeldTurn(
            try await queue.turn(for: applicant(.enrolment, 1), within: .seconds(1)))
        let interruption = Interruption()
        queue.mayInterrupt(turn.turn, by: interruption)
        let login = Task { @ServiceActor in
            try? HeldTurn(await queue.turn(for: applicant(.touch, 3), within: .seconds(30)))
        }
        while queue.waiting < 1 { try? await Timer.sleep(for: .zero) }
        queue.noteTouch(turn.turn)
        #expect(!interruption.isRaised)
        login.cancel()
    }
}
