// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("unplugging and plugging in") struct HotPlugTests {
        private let fixture: DaemonFixture

        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try #require(try fixture.client().keep([1], "mail").done != nil)
        }

        @Test("a reader that was unplugged in use is used again when it is back", arguments: 0..<4)
        func inUse(index: Int) throws {
            let enrolment = Request.enroll(
                account: Person.daemon.account, finger: .leftIndex, readerID: nil)
            let requests = DaemonFixture.touches + [enrolment]
            let client = try fixture.client()
            try client.send(requests[index])
            try client.wait(for: .touch)
            try fixture.unplug(fixture.text)
            #expect(try client.last().reason == .readerRemoved)
            fixture.plugIn(fixture.text)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.status(of: .daemon).prints == 1)
            #expect(try fixture.failures(of: .daemon) == 0)
        }

        @Test("a reader that returns in time is awaited at the same prompt, up to three times")
        func again() throws {
            try fixture.restartWithPatience()
            let client = try fixture.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            for _ in 1...3 {
                try fixture.unplug(fixture.text)
                #expect(try client.wait(for: .retry).retry == .unplugged)
                fixture.plugIn(fixture.text)
                try client.wait(for: .touch)
            }
            try fixture.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            #expect(try client.confirm() == .confirmed(password: nil))
            // What is written behind the answer is on disk then.
            _ = try fixture.status(of: .daemon)
            #expect(try fixture.failures(of: .daemon) == 0)
        }

        @Test("a user who does not wait for the reader can cancel the request")
        func takenBack() throws {
            try fixture.restartWithPatience()
            let client = try fixture.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try fixture.unplug(fixture.text)
            try client.wait(for: .retry)
            try client.send(.cancel)
            #expect(try client.last(within: .seconds(5)).reason == .cancelled)
            fixture.plugIn(fixture.text)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a reader that stays away is looked for once, and reported missing")
        func away() throws {
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            try fixture.unplug(fixture.text)
            #expect(try client.last().reason == .readerRemoved)
            for _ in 0..<3 {
                for request in DaemonFixture.touches {
                    #expect(try fixture.ask(request).reason == .noReader)
                }
            }
        }

        @Test("a reader that was exchanged while unused is opened in the same request")
        func exchanged() throws {
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try fixture.exchange(fixture.text)
            let other = fixture.text.other
            let answer = try fixture.touch(.login(.daemon, tries: 1), with: ["one"], at: other)
            #expect(answer.assertion != nil)
            _ = try fixture.status(of: .daemon)
            #expect(try fixture.failures(of: .daemon) == 0)
        }

        @Test(
            "a reader that does not open, and is not another one, has failed; it is not searched again"
        )
        func broken() throws {
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try fixture.obstruct(fixture.text)
            for _ in 0..<3 { #expect(try fixture.ask(.login(.daemon)).reason == .readerFailed) }
            #expect(try fixture.failures(of: .daemon) == 0)
            try #require(unsafe rmdir(fixture.text.path) == 0)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a reader that vanished as the machine woke up is found again in the same request")
        func stale() throws {
            let machine = try MachineFixture(fixture)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            _ = try machine.bus.sleep()
            try fixture.exchange(fixture.text)
            try machine.bus.wake()
            #expect(try fixture.loginAwake(fixture.text.other).assertion != nil)
            // And once more in mid-scan: what the kernel told late.
            let client = try fixture.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try fixture.text.other.send(.unplug)
            try client.wait(for: .touch)
            try fixture.text.other.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            #expect(try client.confirm() == .confirmed(password: nil))
            // What is written behind an answer is on disk before the next one.
            _ = try fixture.status(of: .daemon)
            #expect(try fixture.failures(of: .daemon) == 0)
        }
    }
}
