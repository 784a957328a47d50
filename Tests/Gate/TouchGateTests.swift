// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import LoginMessages
import LoginProtocol
import MainContext
import Posix
import Systemd
import Testing

@testable import Gate

@Suite("the gate", .serialized, .timeLimit(.minutes(5)))
struct TouchGateTests {
    init() { MainLoop.runInBackground() }

    /// A finger is on the reader at once; something may happen before it is.
    private final class Reader: FingerScanner {
        typealias Telling = @ServiceActor (Notice) -> Void
        let happening: @Sendable @ServiceActor (Telling) async -> Void
        let answer: Result<Int?, Denial>

        init(
            _ answer: Result<Int?, Denial> = .success(1),
            happening: @escaping @Sendable @ServiceActor (Telling) async -> Void = { _ in }
        ) {
            self.answer = answer
            self.happening = happening
        }

        @ServiceActor func scan(
            _ query: Int, limit: Duration, tell: @escaping @ServiceActor (Notice) -> Void
        ) async throws(Denial) -> Int? {
            await happening(tell)
            if Task.isCancelled { throw Denial(.cancelled) }
            return try answer.get()
        }
    }

    @ServiceActor private final class Power: SuspendState {
        var isSuspending = false
        var suspensions: UInt64 = 0
    }

    /// Which attempts were counted, and what became of them.
    @ServiceActor private final class Ledger: LockoutLedger {
        var steps: [String] = []

        func check() throws(Denial) {}
        func begin() throws(Denial) -> any LockoutAttempt {
            steps.append("begun")
            return Attempt(self)
        }

        private struct Attempt: LockoutAttempt {
            let ledger: Ledger
            init(_ ledger: Ledger) { self.ledger = ledger }
            func failed() throws(Denial) { note("failed") }
            func takeBack() { note("taken back") }
            func check() throws(Denial) {}
            func succeeded() throws(Denial) { note("succeeded") }
            private func note(_ step: String) {
                let ledger = ledger
                onService { ledger.steps.append(step) }
            }
        }
    }

    /// What a touch for alice comes to, who is at the machine when it is asked for.
    @ServiceActor private func touch(
        _ reader: Reader, on machine: PlayedMachine, _ client: ClientProcess,
        _ ledger: Ledger = Ledger(), _ power: Power = Power(), account: UInt32 = 1000,
        timeout: Duration = .seconds(30), preparation: Duration = TouchTime.preparation,
        waiting: () -> Void = {}
    ) async throws -> Denial? {
        let examiner = PresenceExaminer(try Configuration.login(""), facts: machine)
        let presence = try examiner.evidence(
            for: client, account: PlayedMachine.alice, claims: PresenceClaims())
        let gate = TouchGate(
            reader, queue: TouchQueue(limit: 1), examiner: examiner, machine: power,
            clock: .system, preparation: preparation)
        let applicant = Applicant(
            .touch, account: 1000, asker: Asker("test", by: presence.requester)
        ) { _ in true }
        do throws(Denial) {
            let turn = try await gate.turn(for: applicant, within: .seconds(1))
            waiting()
            let request = TouchRequest(
                account: account, query: 0, tries: 2, timeout: timeout)
            let touch = try await gate.touch(
                request, presence: presence, during: turn, counting: ledger,
                interruptedBy: Interruption()
            ) { _ in }
            #expect(touch.match.account == 1000 && touch.match.presence.requester.uid == 1000)
            #expect((.zero..<Duration.seconds(20)).contains(touch.match.age))
            return nil
        } catch { return error }
    }

    @Test("gives a match to a requester who is present all the time")
    @ServiceActor func present() async throws {
        let (machine, client) = PlayedMachine.inSession(.alice())
        let ledger = Ledger()
        #expect(try await touch(Reader(), on: machine, client, ledger) == nil)
        #expect(ledger.steps == ["begun"])
    }

    @Test("asks for no finger where the user was switched while the turn was awaited")
    @ServiceActor func goneBefore() async throws {
        let (machine, client) = PlayedMachine.inSession(.alice())
        let ledger = Ledger()
        let denial = try await touch(Reader(), on: machine, client, ledger) {
            machine.change { $0.sessions["c2"] = .alice(isActive: false) }
        }
        #expect(denial?.reason == .notAtMachine && ledger.steps.isEmpty)
    }

    @Test("gives no match where the user was switched while the finger was awaited")
    @ServiceActor func goneMeanwhile() async throws {
        let (machine, client) = PlayedMachine.inSession(.alice())
        let ledger = Ledger()
        let reader = Reader { _ in
            machine.change { $0.sessions["c2"] = .alice(isActive: false) }
        }
        let denial = try await touch(reader, on: machine, client, ledger)
        #expect(denial?.reason == .changedMeanwhile)
        while ledger.steps.count < 2 { try? await Timer.sleep(for: .zero) }
        #expect(ledger.steps == ["begun", "taken back"])
    }

    @Test("gives none for another account than the presence is for")
    @ServiceActor func another() async throws {
        let (machine, client) = PlayedMachine.inSession(.alice())
        let denial = try await touch(Reader(), on: machine, client, account: 1001)
        #expect(denial == Denial(.notPermitted))
    }

    @Test("reports that the machine is about to sleep if that ends the wait")
    @ServiceActor func asleep() async throws {
        let (machine, client) = PlayedMachine.inSession(.alice())
        let power = Power()
        let reader = Reader(.failure(Denial(.cancelled))) { _ in power.isSuspending = true }
        let denial = try await touch(reader, on: machine, client, Ledger(), power)
        #expect(denial?.reason == .suspending)
    }

    @Test("counts a finger that is not the account's")
    @ServiceActor func mismatch() async throws {
        let (machine, client) = PlayedMachine.inSession(.alice())
        let ledger = Ledger()
        let denial = try await touch(Reader(.success(nil)), on: machine, client, ledger)
        #expect(denial?.reason == .noMatch && denial?.mismatches == 2)
        while ledger.steps.count < 4 { try? await Timer.sleep(for: .zero) }
        #expect(ledger.steps == ["begun", "failed", "begun", "failed"])
    }

    @Test("takes nothing from the user's time before a finger is asked for")
    @ServiceActor func slowMachine() async throws {
        let (machine, client) = PlayedMachine.inSession(.alice())
        let reader = Reader { tell in
            try? await Timer.sleep(for: .milliseconds(300))
            tell(Notice(.retry, retry: .restarted))
            tell(Notice(.touch))
        }
        let denial = try await touch(reader, on: machine, client, timeout: .milliseconds(100))
        #expect(denial == nil)
    }

    @Test("ends when the user's time is over, which all tries share")
    @ServiceActor func slowUser() async throws {
        let (machine, client) = PlayedMachine.inSession(.alice())
        let ledger = Ledger()
        var scans = 0
        let reader = Reader(.success(nil)) { tell in
            scans += 1
            tell(Notice(.touch))
            try? await Timer.sleep(for: scans == 1 ? .milliseconds(100) : .seconds(120))
        }
        let begun = ContinuousClock.now
        let denial = try await touch(reader, on: machine, client, ledger, timeout: .seconds(2))
        #expect(denial?.reason == .timedOut && denial?.mismatches == 1)
        #expect(ContinuousClock.now - begun < .seconds(60))
        while ledger.steps.count < 4 { try? await Timer.sleep(for: .zero) }
        #expect(ledger.steps == ["begun", "failed", "begun", "taken back"])
    }

    @Test("reports a reader that never asks for a finger as failed")
    @ServiceActor func deadReader() async throws {
        let (machine, client) = PlayedMachine.inSession(.alice())
        let ledger = Ledger()
        let reader = Reader { _ in try? await Timer.sleep(for: .seconds(120)) }
        let denial = try await touch(
            reader, on: machine, client, ledger, preparation: .milliseconds(100))
        #expect(denial?.reason == .readerFailed)
        while ledger.steps.count < 2 { try? await Timer.sleep(for: .zero) }
        #expect(ledger.steps == ["begun", "taken back"])
    }
}
