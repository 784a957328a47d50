// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a closed lid") struct LidTests {
        private static let closed = Answer.denial(Denial(.lidClosed))

        private func bench(_ configuration: String = "") throws -> DaemonBench {
            let bench = try DaemonBench([.text], configuration: configuration)
            try bench.enrol(.daemon, as: "one")
            try #require(try bench.client().keep([1], "mail").done != nil)
            return bench
        }

        /// A login after which the daemon knows logind.
        private func join(_ machine: Machine, _ bench: DaemonBench) throws {
            let client = try bench.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try machine.bus.awaitInhibitors(1)
            try bench.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
        }

        private func expectRefusals(_ bench: DaemonBench) throws {
            for request in DaemonBench.touches {
                let client = try bench.client()
                #expect(try client.ask(request) == Self.closed)
                #expect(client.notices.isEmpty)
            }
            #expect(try bench.failures(of: .daemon) == 0)
        }

        @Test("of which logind tells asks nobody for a finger, until it is opened")
        func logind() throws {
            let bench = try bench()
            let machine = try Machine(bench)
            try join(machine, bench)
            try machine.bus.setLid(closed: true)
            try expectRefusals(bench)
            try machine.bus.setLid(closed: false)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("of which the kernel tells counts where logind says nothing, and only there")
        func kernel() throws {
            let bench = try bench()
            try bench.setLid("state:      closed\n")
            try expectRefusals(bench)
            try bench.setLid("state:      open\n")
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            try bench.setLid("state:      closed\n")
            let machine = try Machine(bench)
            try bench.setLid("")
            try join(machine, bench)
            try bench.setLid("state:      closed\n")
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            try machine.bus.setSilent(true)
            try expectRefusals(bench)
            try machine.restartLogind(false)
            try expectRefusals(bench)
        }

        @Test(
            "is not read into anything else",
            arguments: [
                "", "\n", "state: unsupported\n", "closed state\n", "CLOSED",
                String(repeating: " ", count: 300) + "closed",
            ])
        func nonsense(text: String) throws {
            let bench = try bench()
            try bench.setLid(text)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("is no matter where the administrator says so")
        func ignored() throws {
            let bench = try bench("[login]\nlid = ignore\n")
            let machine = try Machine(bench)
            try machine.bus.setLid(closed: true)
            try bench.setLid("state: closed\n")
            for request in DaemonBench.touches {
                let client = try bench.client()
                try client.send(request)
                try client.wait(for: .touch)
                try client.send(.cancel)
                #expect(try client.last().reason == .cancelled)
            }
        }

        @Test("of which the kernel tells counts while the bus is not reached yet")
        func notYet() throws {
            let bench = try bench()
            try bench.setLid("state:      closed\n")
            let machine = try Machine(bench)
            machine.logind.suspend()
            try expectRefusals(bench)
        }

        @Test("keeps nobody from enrolling, who has just given the password")
        func enrolment() throws {
            let bench = try bench()
            try bench.setLid("state: closed\n")
            let done = try bench.enrol(.daemon, .leftIndex, as: "two", checking: false)
            #expect(done.done?.prints == 2)
        }
    }
}
