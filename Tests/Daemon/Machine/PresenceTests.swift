// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a closed lid") struct LidTests {
        private static let closed = Answer.denial(Denial(.lidClosed))

        private func fixture(_ configuration: String = "") throws -> DaemonFixture {
            let fixture = try DaemonFixture([.text], configuration: configuration)
            try fixture.enrol(.daemon, as: "one")
            try #require(try fixture.client().keep([1], "mail").done != nil)
            return fixture
        }

        /// A login after which the daemon knows logind.
        private func join(_ machine: MachineFixture, _ fixture: DaemonFixture) throws {
            let client = try fixture.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try machine.bus.awaitInhibitors(1)
            try fixture.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
        }

        private func expectRefusals(_ fixture: DaemonFixture) throws {
            for request in DaemonFixture.touches {
                let client = try fixture.client()
                #expect(try client.ask(request) == Self.closed)
                #expect(client.notices.isEmpty)
            }
            #expect(try fixture.failures(of: .daemon) == 0)
        }

        @Test("that logind reports: no finger is asked for until it is opened")
        func logind() throws {
            let fixture = try fixture()
            let machine = try MachineFixture(fixture)
            try join(machine, fixture)
            try machine.bus.setLid(closed: true)
            try expectRefusals(fixture)
            try machine.bus.setLid(closed: false)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("that the kernel reports counts if logind says nothing, and only then")
        func kernel() throws {
            let fixture = try fixture()
            try fixture.setLid("state:      closed\n")
            try expectRefusals(fixture)
            try fixture.setLid("state:      open\n")
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try fixture.setLid("state:      closed\n")
            let machine = try MachineFixture(fixture)
            try fixture.setLid("")
            try join(machine, fixture)
            try fixture.setLid("state:      closed\n")
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try machine.bus.setSilent(true)
            try expectRefusals(fixture)
            try machine.restartLogind(false)
            try expectRefusals(fixture)
        }

        @Test(
            "is not read into anything else",
            arguments: [
                "", "\n", "state: unsupported\n", "closed state\n", "CLOSED",
                String(repeating: " ", count: 300) + "closed",
            ])
        func nonsense(text: String) throws {
            let fixture = try fixture()
            try fixture.setLid(text)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("does not count if the administrator says so")
        func ignored() throws {
            let fixture = try fixture("[login]\nlid = ignore\n")
            let machine = try MachineFixture(fixture)
            try machine.bus.setLid(closed: true)
            try fixture.setLid("state: closed\n")
            for request in DaemonFixture.touches {
                let client = try fixture.client()
                try client.send(request)
                try client.wait(for: .touch)
                try client.send(.cancel)
                #expect(try client.last().reason == .cancelled)
            }
        }

        @Test("that the kernel reports counts while the bus is not reached yet")
        func notYet() throws {
            let fixture = try fixture()
            try fixture.setLid("state:      closed\n")
            let machine = try MachineFixture(fixture)
            machine.logind.suspend()
            try expectRefusals(fixture)
        }

        @Test("does not prevent enrolment by a user who has just given the password")
        func enrolment() throws {
            let fixture = try fixture()
            try fixture.setLid("state: closed\n")
            let done = try fixture.enrol(.daemon, .leftIndex, as: "two", checking: false)
            #expect(done.done?.prints == 2)
        }
    }
}
