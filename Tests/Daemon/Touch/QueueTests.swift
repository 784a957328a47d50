// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("turns at the reader") struct QueueTests {
        @Test(
            "a second request waits, sees whom the first is for but not its purpose, and has its turn"
        )
        func waits() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.bin, as: "two", checking: true)
            let first = try fixture.client()
            try first.send(.login(.daemon))
            try first.wait(for: .touch)
            let second = try fixture.client(.bin)
            try second.send(.login(.bin, service: "i3lock", tries: 1))
            let who = try second.wait(for: .waiting).subject ?? []
            // No terminal controls the client, whatever it names.
            #expect(String(decoding: who, as: UTF8.self) == "sudo (daemon)")
            #expect(try fixture.status(of: .bin).prints == 1, "status is answered meanwhile")
            try fixture.storage.send(.scan("one"))
            #expect(try first.last().assertion != nil)
            try second.wait(for: .touch)
            try fixture.storage.send(.scan("two"))
            #expect(try second.last().assertion != nil)
        }

        @Test("one account cannot take all waiting places")
        func places() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.bin, as: "two", checking: true)
            var clients: [TestClient] = []
            for place in 0..<3 {
                let client = try fixture.client(.daemon)
                try client.send(.login(.daemon, service: "i3lock"))
                try client.wait(for: place == 0 ? .touch : .waiting)
                clients.append(client)
            }
            let refused = try fixture.client(.daemon).ask(.login(.daemon, service: "i3lock"))
            #expect(refused.reason == .queueFull)
            // What it is for is believed of root's programs alone.
            #expect(refused.denial?.subject == Bytes("i3lock (daemon)".utf8))
            let other = try fixture.client(.bin)
            try other.send(.login(.bin, service: "i3lock"))
            try other.wait(for: .waiting)
            try clients[0].send(.cancel)
            #expect(try clients[0].last().reason == .cancelled)
            try other.wait(for: .touch)
        }

        @Test("a request that waits too long, is cancelled or hangs up is skipped")
        func leaving() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.bin, as: "two", checking: true)
            let first = try fixture.client()
            try first.send(.login(.daemon))
            try first.wait(for: .touch)
            #expect(try fixture.ask(.login(.bin, milliseconds: 50)).reason == .timedOut)
            let cancels = try fixture.client()
            try cancels.send(.login(.bin))
            try cancels.wait(for: .waiting)
            try cancels.send(.cancel)
            #expect(try cancels.last().reason == .cancelled)
            do {
                let gone = try fixture.client()
                try gone.send(.login(.bin))
                try gone.wait(for: .waiting)
            }
            let last = try fixture.client()
            try last.send(.login(.bin))
            try last.wait(for: .waiting)
            try fixture.storage.send(.scan("one"))
            #expect(try first.last().assertion != nil)
            try last.wait(for: .touch)
            try fixture.storage.send(.scan("two"))
            #expect(try last.last().assertion != nil)
            #expect(try last.confirm() == .confirmed(password: nil))
            #expect(try fixture.status(of: .bin).lock == .open, "what is left is done first")
            #expect(try fixture.failures(of: .bin) == 0)
        }

        @Test("what was changed while a finger was awaited is seen when it comes")
        func changedMeanwhile() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let name = Person.daemon.account
            let changes: [(Request, DenialReason)] = [
                (.disable(account: name), .notEnabled), (.enable(account: name), .badRequest),
            ]
            for (change, expected) in changes {
                _ = try fixture.ask(.enable(account: name))
                let client = try fixture.client()
                try client.send(.login(.daemon))
                try client.wait(for: .touch)
                _ = try fixture.ask(change)
                try fixture.text.send(.scan("one"))
                let denial = try #require(try client.last().denial)
                #expect(denial.reason == expected, "\(change)")
                #expect(try fixture.failures(of: .daemon) == 0)
            }
        }

        @Test("a deletion counts at once; where the reader keeps prints, the rest waits for it")
        func readerNeeded() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "two", checking: true)
            let name = Person.daemon.account
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            let deleting = try fixture.client()
            try deleting.send(.delete(account: name, finger: .leftIndex))
            try deleting.wait(for: .waiting)
            #expect(try fixture.status(of: .daemon).prints == 1)
            let enabling = try fixture.client()
            try enabling.send(.enable(account: name))
            try enabling.wait(for: .waiting)
            try fixture.storage.send(.scan("two"))
            #expect(try client.last().denial != nil)
            #expect(try deleting.last().done?.prints == 1)
            #expect(try enabling.last().done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "two").reason == .noMatch)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a check of a finger that is deleted meanwhile does not succeed")
        func deletedMeanwhile() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one", on: DaemonFixture.textID)
            let client = try fixture.client()
            try client.send(.verify(account: Person.daemon.account, timeoutMilliseconds: 20_000))
            try client.wait(for: .touch)
            let deleted = try fixture.ask(.delete(account: Person.daemon.account, finger: nil))
            #expect(deleted.done?.prints == 0)
            try fixture.text.send(.scan("one"))
            #expect(try client.last() == .denial(Denial(.noMatch)))
        }
    }

    @Suite("the end of the daemon") struct StopTests {
        @Test("SIGTERM answers waiting requests and open touches, and ends cleanly")
        func stopping() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let touching = try fixture.client()
            try touching.send(.login(.daemon))
            try touching.wait(for: .touch)
            let waiting = try fixture.client()
            try waiting.send(.login(.daemon))
            try waiting.wait(for: .waiting)
            let typing = try fixture.client(.bin)
            try typing.send(.unlock(account: Person.bin.account))
            try #require(try typing.isAskedPassword(of: Person.bin.account))
            let quiet = try fixture.client()
            fixture.program.signal(SIGTERM)
            for client in [touching, waiting, typing] {
                #expect(try client.last() == .denial(Denial(.stopping)))
                #expect(try client.end().isEmpty)
            }
            #expect(try quiet.end().isEmpty)
            #expect(try fixture.program.expectEnd().ending == .exited(0))
            #expect(try fixture.failures(of: .daemon) == 0)
            #expect(unsafe access(fixture.socket, F_OK) != 0, "its socket is gone")
        }

        @Test("a second daemon on one socket gives up and leaves the first alone")
        func second() throws {
            let fixture = try DaemonFixture()
            let second = try TestSupport.Program(
                Command([
                    Layout.products + "/testfixture", "daemon", "--state", fixture.state,
                    "--socket", fixture.socket, "--configuration", fixture.configuration,
                ]))
            #expect(try second.expectEnd().ending == .exited(1))
            #expect(try fixture.status(of: .bin).prints == 0)
        }

        @Test("a daemon that was killed leaves a socket that the next one replaces")
        func killed() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try fixture.restart(by: SIGKILL)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }
    }
}
