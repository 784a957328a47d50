import Glibc
import TestSupport
import Testing
import Wire

/// Old or new, never neither: the daemon dies, or its disk fails, at every step of each change.
@Suite("the daemon, stopped at every step of", .timeLimit(.minutes(5)))
struct KillTests {
    @Test("a change leaves the old state or the new one, and goes on", arguments: Step.all)
    func killed(_ step: Step) throws {
        let start = ContinuousClock.now
        let rig = try Rig(step)
        for point in 1...rig.points {
            try rig.snapshot.restore()
            rig.failpoint.arm(at: point)
            let answer = try? step.run(rig.bench)
            // What is done behind the answer.
            if answer != nil { _ = try? rig.bench.ask(.status(account: step.person.bytes)) }
            let ended = try rig.bench.program.expectEnd(within: .seconds(10)).ending
            #expect(ended == .killed(SIGKILL), "\(point)")
            rig.failpoint.arm()
            try rig.bench.restart(by: SIGKILL)
            try rig.check("killed at \(point)", hasAnswered: answer != nil, hasRestarted: true)
        }
        print("\(step): killed at each of \(rig.points) points, in \(ContinuousClock.now - start)")
        #expect(rig.points >= 6)
    }

    @Test(
        "a change that the disk fails is told, leaves the old state or the new one, and can be made",
        arguments: Step.all)
    func failed(_ step: Step) throws {
        let start = ContinuousClock.now
        let rig = try Rig(step)
        for point in 1...rig.points {
            for failure in [Failpoint.Failure.once(EIO), .fromThenOn(ENOSPC)] {
                try rig.snapshot.restore()
                rig.failpoint.arm(at: point, failure)
                let answer = try step.run(rig.bench)
                _ = try rig.bench.ask(.status(account: step.person.bytes))
                rig.failpoint.arm()
                let place = "\(failure) at \(point): \(answer)"
                if let denial = answer.denial, denial.reason == .storage {
                    #expect(denial.subject?.isEmpty == false, "\(place)")
                }
                try rig.check(place, hasAnswered: false, hasRestarted: false)
            }
        }
        #expect(rig.bench.program.ended == nil)
        print("\(step): failed twice at each of \(rig.points) points, in \(ContinuousClock.now - start)")
    }

    @Test("a change leaves old or new when the daemon dies behind a TPM command", arguments: Step.withTPM)
    func killedAtCommand(_ step: Step) throws {
        let start = ContinuousClock.now
        let tpm = try SoftwareTPM()
        let bus = try TPMInterposer(tpm)
        defer { bus.stop() }
        let rig = try Rig(step, tpm: bus)
        var reached = 0
        for command in 1...rig.commands {
            try rig.snapshot.restore()
            let pid = rig.bench.program.pid
            bus.cut(at: command, .answer) { kill(pid, SIGKILL) }
            let answer = try? step.run(rig.bench)
            // What is given back behind the answer may take no command.
            let ending = try? rig.bench.program.expectEnd(within: .seconds(2)).ending
            bus.removeRules()
            if ending == .killed(SIGKILL) { reached += 1 }
            try rig.bench.restart(by: SIGKILL)
            try rig.check("killed behind command \(command)", hasAnswered: answer != nil)
            // A daemon that ends in order leaves nothing, and took with it what the killed one left.
            try rig.bench.restart()
            #expect(try tpm.transientHandles.isEmpty && tpm.loadedSessions.isEmpty, "\(command)")
        }
        #expect(reached >= 5)
        print("\(step): killed behind \(reached) of \(rig.commands) TPM commands, in \(ContinuousClock.now - start)")
    }
}
