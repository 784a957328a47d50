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

@Suite("the gate for passwords", .serialized, .timeLimit(.minutes(5)))
struct PasswordGateTests {
    init() { MainLoop.runInBackground() }

    /// Something happens while the password is typed, and while it is checked.
    private struct Judge: PasswordJudge {
        var typed: Result<String, Denial> = .success("right")
        var verdict: Result<Int?, Denial> = .success(1)
        var typing: @Sendable @ServiceActor () -> Void = {}
        var checking: @Sendable @ServiceActor () -> Void = {}

        func typed(for query: Int) async throws(Denial) -> String {
            typing()
            return try typed.get()
        }

        func verified(_ typed: String, for query: Int) async throws(Denial) -> Int? {
            checking()
            return try verdict.get()
        }
    }

    @ServiceActor private final class Power: SuspendState {
        var isSuspending = false
        var suspensions: UInt64 = 0
    }

    /// What was counted, in order; it may be locked from some step on.
    @ServiceActor private final class Ledger: LockoutLedger {
        var steps: [String] = []
        var isLocked = false

        func check() throws(Denial) {
            if isLocked { throw Denial(.lockedForNow, seconds: 30) }
        }
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

    private struct Case {
        var judge = Judge()
        let ledger: Ledger
        let power: Power
        let machine: PlayedMachine
        let client: ClientProcess

        @ServiceActor init() {
            (machine, client) = PlayedMachine.inSession(.alice())
            ledger = Ledger()
            power = Power()
        }

        /// What a password of alice's comes to.
        @ServiceActor func denial(account: UInt32 = 1000) async throws -> Denial? {
            let examiner = PresenceExaminer(try Configuration.login(""), facts: machine)
            let presence = try examiner.evidence(
                for: client, account: PlayedMachine.alice, claims: PresenceClaims())
            let gate = PasswordGate(judge, examiner: examiner, machine: power, clock: .system)
            do throws(Denial) {
                let proof = try await gate.password(
                    of: account, query: 0, presence: presence, counting: ledger)
                #expect(proof.match.account == 1000 && proof.verified == 1)
                #expect(proof.match.presence.requester.uid == 1000)
                #expect((.zero..<Duration.seconds(20)).contains(proof.match.age))
                return nil
            } catch { return error }
        }

        /// Waits until this many steps were counted.
        @ServiceActor func steps(_ count: Int) async -> [String] {
            while ledger.steps.count < count { try? await Timer.sleep(for: .zero) }
            return ledger.steps
        }
    }

    @Test("gives a match for the right password, whose attempt is left to be settled")
    @ServiceActor func right() async throws {
        let one = Case()
        #expect(try await one.denial() == nil)
        #expect(one.ledger.steps == ["begun"])
    }

    @Test("counts the attempt before the password is checked, and not before it is typed")
    @ServiceActor func countedFirst() async throws {
        var one = Case()
        let ledger = one.ledger
        one.judge.typing = { #expect(ledger.steps.isEmpty) }
        one.judge.checking = { #expect(ledger.steps == ["begun"]) }
        #expect(try await one.denial() == nil)
    }

    @Test("counts a wrong password")
    @ServiceActor func wrong() async throws {
        var one = Case()
        one.judge.verdict = .success(nil)
        #expect(try await one.denial() == Denial(.wrongPassword))
        #expect(await one.steps(2) == ["begun", "failed"])
    }

    @Test("counts a wrong password of a client that has gone, and takes a right one back")
    @ServiceActor func gone() async throws {
        for (verdict, reason, step) in [
            (nil, DenialReason.wrongPassword, "failed"), (1, .cancelled, "taken back"),
        ] {
            var one = Case()
            one.judge.verdict = .success(verdict)
            one.judge.checking = { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            let asked = one
            let denial = await Task { @ServiceActor in try await asked.denial() }.result
            #expect(try denial.get()?.reason == reason)
            #expect(await one.steps(2) == ["begun", step])
        }
    }

    @Test("takes back what was not judged, and counts nothing where none was typed")
    @ServiceActor func notJudged() async throws {
        var one = Case()
        one.judge.verdict = .failure(Denial(.passwordCheckFailed))
        #expect(try await one.denial() == Denial(.passwordCheckFailed))
        #expect(await one.steps(2) == ["begun", "taken back"])
        var other = Case()
        other.judge.typed = .failure(Denial(.timedOut))
        #expect(try await other.denial() == Denial(.timedOut))
        #expect(other.ledger.steps.isEmpty)
    }

    @Test("asks for none during a pause, and checks none that was typed before one began")
    @ServiceActor func locked() async throws {
        let one = Case()
        one.ledger.isLocked = true
        #expect(try await one.denial() == Denial(.lockedForNow, seconds: 30))
        var other = Case()
        let ledger = other.ledger
        other.judge.typing = { ledger.isLocked = true }
        #expect(try await other.denial() == Denial(.lockedForNow, seconds: 30))
        #expect(ledger.steps.isEmpty && one.ledger.steps.isEmpty)
    }

    @Test("asks for none where the user is not there, and gives no match where the user has left")
    @ServiceActor func absent() async throws {
        var one = Case()
        let (machine, ledger) = (one.machine, one.ledger)
        one.judge.checking = { machine.change { $0.sessions["c2"] = .alice(isActive: false) } }
        #expect(try await one.denial()?.reason == .changedMeanwhile)
        #expect(await one.steps(2) == ["begun", "taken back"])
        let examiner = PresenceExaminer(try Configuration.login(""), facts: machine)
        #expect(throws: Denial.self) {
            try examiner.evidence(
                for: one.client, account: PlayedMachine.alice, claims: PresenceClaims())
        }
        #expect(ledger.steps.count == 2)
    }

    @Test("gives none for another account than the presence is for")
    @ServiceActor func another() async throws {
        let one = Case()
        #expect(try await one.denial(account: 1001) == Denial(.notPermitted))
        #expect(one.ledger.steps.isEmpty)
    }

    @Test("gives none while the machine goes to sleep")
    @ServiceActor func asleep() async throws {
        var one = Case()
        let power = one.power
        one.judge.checking = { power.isSuspending = true }
        #expect(try await one.denial()?.reason == .suspending)
        let other = Case()
        other.power.isSuspending = true
        #expect(try await other.denial()?.reason == .suspending)
        #expect(other.ledger.steps.isEmpty)
    }
}
