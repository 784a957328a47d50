// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

extension DaemonTests {
    @Suite("confirming a touch") struct ConfirmationTests {
        private func proven() throws -> (DaemonFixture, TestClient) {
            let fixture = try DaemonFixture()
            try #require(try fixture.enrol(.daemon, as: "one").done != nil)
            let client = try fixture.client()
            let answer = try fixture.touch(.login(.daemon), with: ["one"], client: client)
            try #require(answer.assertion != nil)
            return (fixture, client)
        }

        @Test("is answered once")
        func once() throws {
            let (fixture, client) = try proven()
            defer { withExtendedLifetime(fixture) {} }
            #expect(try client.confirm() == .confirmed(password: nil))
            #expect(try client.confirm() == .denial(Denial(.answerTooLate)))
        }

        @Test("comes too late after a second, and after anything else that was asked for")
        func late() throws {
            let (fixture, client) = try proven()
            // Long enough to wait for a second of it, whatever else the machine does.
            let timer = try BootTimer(after: .seconds(3))
            var waiting = pollfd(fd: timer.descriptor.number, events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&waiting, 1, 10_000) == 1)
            #expect(try client.confirm() == .denial(Denial(.answerTooLate)))
            let answer = try fixture.touch(.login(.daemon), with: ["one"], client: client)
            try #require(answer.assertion != nil)
            #expect(try client.ask(.readers).done != nil)
            #expect(try client.confirm() == .denial(Denial(.answerTooLate)))
        }

        @Test("that is never requested delays the account's next touch by its second only")
        func forgotten() throws {
            let (fixture, client) = try proven()
            defer { withExtendedLifetime(client) {} }
            let begin = ContinuousClock.now
            #expect(try fixture.touch(.login(.daemon), with: ["one"]).assertion != nil)
            // A client that asks for nothing is let go after half a minute.
            #expect(ContinuousClock.now - begin < .seconds(15))
        }

        @Test("is for one connection, account and challenge, and for a touch only")
        func others() throws {
            let (fixture, client) = try proven()
            let name = Person.daemon.account
            let other = Challenge.sample(repeating: 1)
            let late = Answer.denial(Denial(.answerTooLate))
            let same = Request.confirm(
                account: name, challenge: .sample(repeating: 7))
            #expect(try fixture.client().ask(same) == late)
            #expect(try client.ask(.confirm(account: name, challenge: other)) == late)
            // The first question, right or wrong, is the only one.
            #expect(try client.confirm() == late)
            _ = try fixture.touch(.login(.daemon), with: ["one"], client: client)
            let root = Request.confirm(
                account: Person.root.account, challenge: .sample(repeating: 7))
            #expect(try client.ask(root) == late)
            _ = try fixture.touch(.login(.daemon, tries: 1), with: ["other"], client: client)
            #expect(try client.confirm() == late)
        }

        @Test("'shown' is heard while a request is under way, and ends the connection else")
        func shown() throws {
            let (fixture, client) = try proven()
            defer { withExtendedLifetime(fixture) {} }
            try client.send(.login(.daemon))
            // One: the daemon reads a packet a turn, and this one before the finger is asked for.
            try client.send(.shown)
            try client.wait(for: .touch)
            try fixture.storage.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            try client.send(.shown)
            #expect(try client.end() == [.denial(Denial(.badRequest))])
        }
    }
}
