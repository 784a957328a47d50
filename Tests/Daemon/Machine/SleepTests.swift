// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

extension DaemonTests {
    @Suite("sleep") struct SleepTests {
        private let fixture: DaemonFixture
        private let machine: MachineFixture
        private var bus: PrivateBus { machine.bus }
        private static let name = Person.daemon.account
        private static let asleep = Answer.denial(Denial(.suspending))

        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try #require(try fixture.client().keep([1], "mail").done != nil)
            machine = try MachineFixture(fixture)
        }

        /// A client whose request waits for a finger, with sleep held up until that is over.
        private func waiting(_ request: Request) throws -> TestClient {
            let client = try fixture.client()
            try client.send(request)
            try client.wait(for: .touch)
            try bus.awaitInhibitors(1)
            return client
        }

        @Test("ends the wait for a finger, and begins when the reader is closed", arguments: 0..<4)
        func ended(index: Int) throws {
            let enrolment = Request.enroll(
                account: Self.name, finger: .leftIndex, readerID: nil)
            let requests = DaemonFixture.touches + [enrolment]
            let client = try waiting(requests[index])
            #expect(
                try bus.lastInhibitor()
                    == "sleep|signetd|closing the fingerprint reader|delay")
            let sleep = try bus.sleep(lookingAt: fixture.text.path)
            #expect(sleep.isInTime && !sleep.wasHeard)
            #expect(try client.last() == Self.asleep)
            #expect(try fixture.failures(of: .daemon) == 0)
            #expect(try fixture.status(of: .daemon).prints == 1)
            // At once, until the machine wakes up.
            for request in requests { #expect(try fixture.ask(request) == Self.asleep) }
            try bus.wake()
            #expect(try fixture.loginAwake(fixture.text).assertion != nil)
            try bus.awaitInhibitors(0)
        }

        @Test("ends the wait of those behind, too")
        func queued() throws {
            let first = try waiting(.login(.daemon))
            let second = try fixture.client()
            try second.send(.login(.daemon))
            try second.wait(for: .waiting)
            #expect(try bus.sleep().isInTime)
            #expect(try first.last() == Self.asleep)
            #expect(try second.last() == Self.asleep)
        }

        @Test("is not delayed by a client that has its answer")
        func free() throws {
            let client = try waiting(.login(.daemon, tries: 1))
            try fixture.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            try bus.awaitInhibitors(0)
            let cancelled = try waiting(.login(.daemon))
            try cancelled.send(.cancel)
            #expect(try cancelled.last().reason == .cancelled)
            try bus.awaitInhibitors(0)
        }

        @Test("is believed of logind only, not of other senders")
        func forged() throws {
            let client = try waiting(.login(.daemon, tries: 1))
            try bus.forge("PrepareForSleep", "boolean:true")
            for name in try bus.names() {
                try bus.forge("PrepareForSleep", "boolean:true", to: name)
            }
            // A word of logind's own comes after those.
            try bus.awaitInhibitors(1)
            try fixture.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            #expect(try fixture.loginAwake(fixture.text).assertion != nil)
            #expect(!fixture.program.errors.contains("sleep"))
        }

        @Test("is over when logind is another one, or none, that has not said so")
        func restarted() throws {
            for isWanted in [true, false] {
                _ = try waiting(.login(.daemon))
                #expect(try bus.sleep().isInTime)
                #expect(try fixture.ask(.login(.daemon)) == Self.asleep)
                try machine.restartLogind(isWanted)
                #expect(try fixture.loginAwake(fixture.text).assertion != nil)
            }
        }

        @Test("is over when the bus ends, in mid-scan or asleep, and the next bus is joined")
        func busEnds() throws {
            let client = try waiting(.login(.daemon, tries: 1))
            bus.end()
            try fixture.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            unsafe unlink(bus.socket)
            let next = try MachineFixture(fixture)
            _ = try waitingOn(next)
            #expect(try next.bus.sleep().isInTime)
            #expect(try fixture.ask(.login(.daemon)) == Self.asleep)
            next.bus.end()
            #expect(try fixture.loginAwake(fixture.text).assertion != nil)
        }

        private func waitingOn(_ machine: MachineFixture) throws -> TestClient {
            // The end of the old bus may not have come round; each request looks for a new one.
            while true {
                let client = try fixture.client()
                try client.send(.login(.daemon))
                try client.wait(for: .touch)
                if (try? machine.bus.lastInhibitor()) != "" { return client }
                try client.send(.cancel)
                _ = try client.last()
            }
        }

        @Test("that was near when the daemon came is known")
        func near() throws {
            #expect(try bus.sleep().isInTime)
            try fixture.restart()
            try fixture.awaitSleep()
            try bus.wake()
            #expect(try fixture.loginAwake(fixture.text).assertion != nil)
        }

        @Test(
            "makes every earlier touch worthless, however short it was",
            arguments: [Request.login(.daemon, tries: 1), .get("mail")])
        func between(request: Request) throws {
            let tpm = try SoftwareTPM()
            let interposer = try TPMInterposer(tpm)
            let fixture = try DaemonFixture(
                [.text],
                configuration: "[vault]\nkind = tpm\ntpm = \(interposer.tcti)\ntimeout = 20s\n")
            try fixture.enrol(.daemon, as: "one")
            try #require(try fixture.client().keep([1], "mail").done != nil)
            let machine = try MachineFixture(fixture)
            let client = try fixture.client()
            try client.send(request)
            try client.wait(for: .touch)
            try machine.bus.awaitInhibitors(1)
            let (asked, goOn) = (DispatchedEvent(), try Event())
            interposer.setRule(at: .answer) { exchange in
                if exchange.code == .sign {
                    asked.happen()
                    hold(until: goOn)
                }
                return .pass
            }
            try fixture.text.send(.scan("one"))
            try asked.wait()
            #expect(try machine.bus.sleep().isInTime)
            try fixture.awaitSleep()
            try machine.bus.wake()
            goOn.happen()
            #expect(try client.last() == Self.asleep)
            #expect(try fixture.loginAwake(fixture.text).assertion != nil)
        }

        @Test("a logind, or a bus, that says nothing delays no request")
        func silent() throws {
            try bus.setSilent(true)
            for _ in 0..<3 {
                let start = ContinuousClock.now
                let client = try fixture.client()
                try client.send(.login(.daemon, tries: 1))
                try client.wait(for: .touch)
                #expect(ContinuousClock.now - start < .seconds(5))
                try fixture.text.send(.scan("one"))
                #expect(try client.last().assertion != nil)
            }
            machine.logind.suspend()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }
    }
}
