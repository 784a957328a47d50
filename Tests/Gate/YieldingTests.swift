// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import TestSupport
import Testing

@testable import Gate

@Suite("an enrolment during which the reader is not touched", .serialized, .timeLimit(.minutes(5)))
struct YieldingTests {
    init() { MainLoop.runInBackground() }

    @ServiceActor
    private func applicant(_ purpose: Applicant.Purpose, _ uid: UInt32) -> Applicant {
        Applicant(
            purpose, account: uid,
            asker: Asker("test", by: Requester(uid: uid, name: "u"))
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

    @Test(
        "a touch for a desktop gives way to a touch at once, and to nothing else",
        arguments: [Applicant.Purpose.desktop, .enrolment, .upkeep, .observation])
    @ServiceActor
    func desktop(other: Applicant.Purpose) async throws {
        let queue = TouchQueue(limit: 8, patience: .seconds(60))
        let turn = HeldTurn(
            try await queue.turn(for: applicant(.desktop, 1), within: .seconds(1)))
        let interruption = Interruption()
        queue.mayInterrupt(turn.turn, by: interruption)
        let second = Task { @ServiceActor in
            try? HeldTurn(await queue.turn(for: applicant(other, 2), within: .seconds(30)))
        }
        while queue.waiting < 1 { try? await Timer.sleep(for: .zero) }
        #expect(!interruption.isRaised)
        let login = Task { @ServiceActor in
            try? HeldTurn(await queue.turn(for: applicant(.touch, 1), within: .seconds(30)))
        }
        while queue.waiting < 2 { try? await Timer.sleep(for: .zero) }
        #expect(interruption.isRaised)
        let hasYielded = queue.hasYielded(turn.turn)
        #expect(hasYielded)
        second.cancel()
        login.cancel()
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
