// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("unplugging and plugging in") struct HotPlugTests {
        private let bench: DaemonBench

        init() throws {
            bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            try #require(try bench.client().keep([1], "mail").done != nil)
        }

        @Test("a reader that was unplugged in use is used again when it is back", arguments: 0..<4)
        func inUse(index: Int) throws {
            let enrolment = Request.enroll(
                account: Person.daemon.bytes, finger: .leftIndex, readerID: nil)
            let requests = DaemonBench.touches + [enrolment]
            let client = try bench.client()
            try client.send(requests[index])
            try client.wait(for: .touch)
            try bench.unplug(bench.text)
            #expect(try client.last().reason == .readerRemoved)
            bench.plugIn(bench.text)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            #expect(try bench.status(of: .daemon).prints == 1)
            #expect(try bench.failures(of: .daemon) == 0)
        }

        @Test("a reader that comes back in time is awaited at the same prompt, as often as thrice")
        func again() throws {
            try bench.restartWithPatience()
            let client = try bench.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            for _ in 1...3 {
                try bench.unplug(bench.text)
                #expect(try client.wait(for: .retry).retry == .unplugged)
                bench.plugIn(bench.text)
                try client.wait(for: .touch)
            }
            try bench.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            #expect(try client.confirm() == .confirmed(password: nil))
            // What is written behind the answer is on disk then.
            _ = try bench.status(of: .daemon)
            #expect(try bench.failures(of: .daemon) == 0)
        }

        @Test("who does not wait for it takes the request back")
        func takenBack() throws {
            try bench.restartWithPatience()
            let client = try bench.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try bench.unplug(bench.text)
            try client.wait(for: .retry)
            try client.send(.cancel)
            #expect(try client.last(within: .seconds(5)).reason == .cancelled)
            bench.plugIn(bench.text)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a reader that stays away is looked for once, and is told to be gone")
        func away() throws {
            let client = try bench.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            try bench.unplug(bench.text)
            #expect(try client.last().reason == .readerRemoved)
            for _ in 0..<3 {
                for request in DaemonBench.touches {
                    #expect(try bench.ask(request).reason == .noReader)
                }
            }
        }

        @Test("a reader that was exchanged while nobody used it is opened in the same request")
        func exchanged() throws {
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            try bench.exchange(bench.text)
            let other = bench.text.other
            let answer = try bench.touch(.login(.daemon, tries: 1), with: ["one"], at: other)
            #expect(answer.assertion != nil)
            _ = try bench.status(of: .daemon)
            #expect(try bench.failures(of: .daemon) == 0)
        }

        @Test(
            "a reader that does not open, and is no other, has failed; it is not looked for again")
        func broken() throws {
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            try bench.obstruct(bench.text)
            for _ in 0..<3 { #expect(try bench.ask(.login(.daemon)).reason == .readerFailed) }
            #expect(try bench.failures(of: .daemon) == 0)
            try #require(unsafe rmdir(bench.text.path) == 0)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a reader that went as the machine woke up is found anew in the same request")
        func stale() throws {
            let machine = try Machine(bench)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            _ = try machine.bus.sleep()
            try bench.exchange(bench.text)
            try machine.bus.wake()
            #expect(try bench.loginAwake(bench.text.other).assertion != nil)
            // And once more in mid-scan: what the kernel told late.
            let client = try bench.client()
            try client.send(.login(.daemon, tries: 1))
            try client.wait(for: .touch)
            try bench.text.other.send(.unplug)
            try client.wait(for: .touch)
            try bench.text.other.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            #expect(try client.confirm() == .confirmed(password: nil))
            // What is written behind an answer is on disk before the next one.
            _ = try bench.status(of: .daemon)
            #expect(try bench.failures(of: .daemon) == 0)
        }
    }
}
