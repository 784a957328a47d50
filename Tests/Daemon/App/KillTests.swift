// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Old or new, never neither: the daemon dies, or its disk fails, at every step of each change.
@Suite("the daemon, stopped at every step of", .timeLimit(.minutes(5)))
struct KillTests {
    @Test("writing to a peer that is gone ends neither the daemon nor the readers' process")
    func brokenPipe() throws {
        let fixture = try DaemonFixture([.storage])
        try fixture.enrol(.daemon, as: "one")
        fixture.program.signal(SIGPIPE)
        try fixture.killReaders(by: SIGPIPE)
        #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        #expect(fixture.program.ended == nil)
    }

    @Test(
        "a change leaves the old state or the new one, and the daemon keeps working",
        arguments: Step.all)
    func killed(_ step: Step) throws {
        try kill(try StepFixture(step))
    }

    @Test("a move between the vaults leaves the old state or the new one", arguments: Step.moves)
    func killedMoving(_ step: Step) throws {
        let bus = try TPMInterposer(try SoftwareTPM())
        defer { bus.stop() }
        try kill(try StepFixture(step, tpm: bus))
    }

    private func kill(_ fixture: StepFixture) throws {
        let start = ContinuousClock.now
        let step = fixture.step
        for point in 1...fixture.points {
            let answer = try fixture.snapshot.kill(
                at: point, fixture.failpoint, step.run, to: step.person)
            try fixture.check("killed at \(point)", hasAnswered: answer != nil, hasRestarted: true)
        }
        let time = ContinuousClock.now - start
        print("\(step): killed at each of \(fixture.points) points, in \(time)")
        // A deleted secret is a file that is removed, and its directory that is synchronised then.
        #expect(fixture.points >= (step.description == "a deleted secret" ? 2 : 4))
    }

    @Test(
        "a change that the disk fails is reported, leaves the old state or the new, and can be repeated",
        arguments: Step.all)
    func failed(_ step: Step) throws {
        let start = ContinuousClock.now
        let fixture = try StepFixture(step)
        for point in 1...fixture.points {
            for failure in [Failpoint.Failure.once(EIO), .fromThenOn(ENOSPC)] {
                try fixture.snapshot.restore()
                fixture.failpoint.arm(at: point, failure)
                let answer = try step.run(fixture.daemon)
                _ = try fixture.daemon.ask(.status(account: step.person.account))
                fixture.failpoint.arm()
                let place = "\(failure) at \(point): \(answer)"
                if let denial = answer.denial, denial.reason == .storage {
                    #expect(denial.subject?.isEmpty == false, "\(place)")
                }
                try fixture.check(
                    place, hasAnswered: false, hasRestarted: false, isBrief: failure == .once(EIO))
            }
        }
        #expect(fixture.daemon.program.ended == nil)
        let time = ContinuousClock.now - start
        print("\(step): failed twice at each of \(fixture.points) points, in \(time)")
    }

    @Test("a print that counts despite a fault stays on its reader; one that does not is deleted")
    func onReader() throws {
        let scratch = try Scratch()
        let failpoint = try Failpoint(path: scratch.at("failpoint"))
        let fixture = try DaemonFixture([.storage], failpoint: failpoint)
        try fixture.enrol(.daemon, .rightIndex, as: "one")
        // The steps of writing `account`: the fifth is the rename, the sixth makes it last.
        for (point, isKept) in [(5, false), (6, true)] {
            failpoint.arm(at: point, on: "account", .once(EIO))
            let denied = try fixture.enrol(.daemon, .leftIndex, as: "two", checking: true)
            #expect(denied.reason == .storage)
            failpoint.arm()
            let status = try fixture.status(of: .daemon)
            #expect(status.prints == (isKept ? 2 : 1) && status.state == .valid)
            #expect((try fixture.login(.daemon, with: "two").assertion != nil) == isKept)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }
        // Nor does a deletion that fails take away what still counts.
        failpoint.arm(at: 1, on: "account", .once(EIO))
        let kept = try fixture.ask(.delete(account: Person.daemon.account, finger: .leftIndex))
        #expect(kept.reason == .storage)
        failpoint.arm()
        #expect(try fixture.login(.daemon, with: "two").assertion != nil)
    }

    @Test("a finger added on a reader shuts what is sealed, wherever the daemon dies over it")
    func addedOnReader() throws {
        let scratch = try Scratch()
        let failpoint = try Failpoint(path: scratch.at("failpoint"))
        let fixture = try DaemonFixture([.storage], failpoint: failpoint)
        try fixture.enrol(.daemon, as: "one")
        #expect(try fixture.client().keep([1, 2, 3], "kept").done != nil)
        #expect(try fixture.get("kept", with: "one") == [1, 2, 3])
        try fixture.change { $0 + ["stranger"] }
        // A daemon that listens may still be opening its state.
        _ = try fixture.status(of: .daemon)
        let snapshot = try Snapshot(fixture)
        failpoint.arm()
        #expect(try fixture.ask(.login(.daemon)).denial?.cause == .fingerAddedOnReader)
        let points = failpoint.reached
        for point in 1...points {
            _ = try snapshot.kill(at: point, failpoint, { try $0.ask(.login(.daemon)) })
            #expect(try fixture.ask(.login(.daemon)).reason == .invalidated, "\(point)")
            let enabled = try fixture.ask(.enable(account: Person.daemon.account))
            #expect(enabled.done?.state == .valid, "\(point)")
            #expect(try fixture.refusal("kept") == .secretStale, "\(point)")
        }
        #expect(points >= 10)
    }

    @Test(
        "a change leaves old or new when the daemon dies behind a TPM command",
        arguments: Step.withTPM + Step.moves)
    func killedAtCommand(_ step: Step) throws {
        let start = ContinuousClock.now
        let tpm = try SoftwareTPM()
        let bus = try TPMInterposer(tpm)
        defer { bus.stop() }
        let fixture = try StepFixture(step, tpm: bus)
        var reached = 0
        for command in 1...fixture.commands {
            try fixture.snapshot.restore()
            let pid = fixture.daemon.program.pid
            bus.cut(at: command, .answer) { Glibc.kill(pid, SIGKILL) }
            let answer = try? step.run(fixture.daemon)
            // What is given back behind the answer may take no command.
            let ending = try? fixture.daemon.program.expectEnd(within: .seconds(2)).ending
            bus.removeRules()
            if ending == .killed(SIGKILL) { reached += 1 }
            try fixture.daemon.restart(by: SIGKILL)
            try fixture.check(
                "killed behind command \(command)", hasAnswered: answer != nil, hasRestarted: true)
            // Whoever uses the TPM next takes with it what the killed one left, and leaves nothing.
            let use = Request.migrate(
                account: Person.daemon.account, vault: Bytes("tpm".utf8))
            #expect(try fixture.daemon.ask(use).done != nil)
            try fixture.daemon.restart()
            #expect(try tpm.transientHandles.isEmpty && tpm.loadedSessions.isEmpty, "\(command)")
        }
        #expect(reached >= 5)
        let time = ContinuousClock.now - start
        print("\(step): killed behind \(reached) of \(fixture.commands) TPM commands, in \(time)")
    }
}
