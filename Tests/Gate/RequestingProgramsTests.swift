// SPDX-License-Identifier: Apache-2.0
import Configuration
import Systemd
import TestSupport
import Testing

@testable import Gate

@Suite("The requesting programs")
struct RequestingProgramsTests {
    private func machine() -> PlayedMachine {
        let machine = PlayedMachine()
        for (pid, name, parent) in [
            (10, "git", 9), (11, "ssh-keygen", 10), (12, "ssh-sk-helper", 11), (9, "bash", 1),
        ] as [(Int32, String, Int32)] {
            machine.process(
                pid, in: .outside, .init(parents: [parent], name: name, realUID: 1000))
        }
        return machine
    }

    private func programs(
        _ machine: PlayedMachine, of pid: Int32 = 12
    ) throws -> [String] {
        let examiner = try PresenceExaminer(Configuration.login(""), facts: machine)
        return examiner.programs(behind: machine.client(pid, uid: 1000))
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("are the client and those that started it, at most three")
    func three() throws {
        #expect(try programs(machine()) == ["ssh-sk-helper", "ssh-keygen", "git"])
        #expect(try programs(machine(), of: 10) == ["git", "bash"])
    }

    @Test("end at another user's program, and at one that has ended")
    func others() throws {
        let foreign = machine()
        foreign.process(11, in: .outside, .init(parents: [10], name: "su", realUID: 0))
        #expect(try programs(foreign) == ["ssh-sk-helper"])
        let ended = machine()
        ended.process(
            11, in: .outside, .init(hasEnded: true, parents: [10], name: "x", realUID: 1000))
        #expect(try programs(ended) == ["ssh-sk-helper"])
    }

    @Test("do not include one that has taken a parent's place")
    func replaced() throws {
        let machine = machine()
        machine.process(
            12, in: .outside, .init(parents: [11, 1], name: "ssh-sk-helper", realUID: 1000))
        #expect(try programs(machine) == ["ssh-sk-helper"])
    }
}
