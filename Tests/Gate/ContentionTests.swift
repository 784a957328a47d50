// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import TestSupport
import Testing

@testable import Gate

@Suite("two requests for one account", .serialized, .timeLimit(.minutes(5)))
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
            service: "sudo", terminal: [], purpose: Bytes(command.utf8),
            by: Requester(uid: uid, name: AccountName("user\(uid)")))
        return Applicant(purpose, account: 1, asker: asker) { await screen.show($0) }
    }

    @ServiceActor
    private func join(
        _ queue: TouchQueue, _ applicant: Applicant
    ) async -> Task<HeldTurn?, Never> {
        let waiting = queue.waiting
        let end = End()
        let task = Task { @ServiceActor in
            defer { end.isThere = true }
            return try? HeldTurn(await queue.turn(for: applicant, within: .seconds(30)))
        }
        // It may lose its place before this is asked again.
        while queue.waiting == waiting, !end.isThere { try? await Timer.sleep(for: .zero) }
        return task
    }

    /// Whether a request has ended.
    @ServiceActor private final class End {
        var isThere = false
    }

    private var end: Duration { Clock.system.sinceBoot() + .seconds(30) }

    @Test("end the scan, and continue when both prompts say so, with user and command")
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

    @Test("a request that does not show that it waits loses its place, and delays no other")
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

    @Test("a second newcomer does not end the holder, whose prompt mentions the first")
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

    @Test("a requester that does not show that it waits stops one scan and no other")
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
        var other = await join(queue, applicant("su alice", by: 2, honest))
        while !scan.isRaised {
            try? await Timer.sleep(for: .zero)
            // On a machine that is busy, an honest one may be too late as well, and asks again.
            guard !scan.isRaised, queue.waiting == 0 else { continue }
            other = await join(queue, applicant("su alice", by: 2, honest))
        }
        try await queue.settleContention(of: turn.turn, until: end, clock: .system)
        #expect(first.shown.map(\.kind) == [.contended])
        other.cancel()
    }

    @Test("an enrolment and upkeep do not count as a second request")
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
