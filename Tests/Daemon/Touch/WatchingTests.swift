// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

extension DaemonTests {
    @Suite("watching touches") struct WatchingTests {
        private static func event(_ number: UInt64, isOver: Bool) -> Answer {
            .event(
                EventAnswer(
                    account: Person.daemon.account, service: "locker",
                    requester: "bin", purpose: Bytes("sudo id".utf8), isOver: isOver,
                    number: number))
        }

        private static func hidden(_ person: Person = .daemon) -> Request {
            .login(person, service: "locker", tries: 1, presence: .noTerminal, requester: "bin")
        }

        private static func fixture() throws -> DaemonFixture {
            // The requests of these tests name another user, who is told to those who watch.
            let fixture = try DaemonFixture([.text], configuration: "[login]\nothers = warn\n")
            try fixture.enrol(.daemon, as: "one")
            return fixture
        }

        /// A client that watches for certain: it has heard of a first touch, which was given up.
        private static func watcher(_ fixture: DaemonFixture, _ person: Person) throws -> TestClient
        {
            let client = try fixture.client()
            try client.send(Self.hidden())
            try client.wait(for: .touch)
            let watcher = try fixture.client(person)
            try watcher.send(.watch(account: Person.daemon.account))
            let number = try #require(try watcher.next()?.event).number
            #expect(watcher.heard == [Self.event(number, isOver: false)])
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try watcher.next() == Self.event(number, isOver: true))
            return watcher
        }

        @Test("hears of a touch without a terminal, from its beginning to its end")
        func touch() throws {
            let fixture = try Self.fixture()
            let watcher = try Self.watcher(fixture, .daemon)
            #expect(try fixture.touch(Self.hidden(), with: ["one"]).assertion != nil)
            #expect(try watcher.next() == Self.event(2, isOver: false))
            #expect(try watcher.next() == Self.event(2, isOver: true))
            #expect(try fixture.touch(Self.hidden(), with: ["two"]).reason == .noMatch)
            #expect(try watcher.next() == Self.event(3, isOver: false))
            #expect(try watcher.next() == Self.event(3, isOver: true))
        }

        @Test("hears of one that is under way when it comes, and of one that is given up")
        func underWay() throws {
            let fixture = try Self.fixture()
            #expect(try Self.watcher(fixture, .daemon).heard.count == 2)
        }

        @Test("hears nothing of what asks on a terminal, nor of another account's")
        func others() throws {
            let fixture = try Self.fixture()
            try fixture.enrol(.bin, as: "two")
            let watcher = try Self.watcher(fixture, .daemon)
            #expect(try fixture.touch(.login(.daemon, tries: 1), with: ["one"]).assertion != nil)
            #expect(try fixture.touch(Self.hidden(.bin), with: ["two"]).assertion != nil)
            // What comes next is not one of these.
            #expect(try fixture.touch(Self.hidden(), with: ["one"]).assertion != nil)
            #expect(try watcher.next() == Self.event(3, isOver: false))
        }

        @Test("hears of what a program without root's rights asks for, whatever that says")
        func unprivileged() throws {
            let fixture = try Self.fixture()
            let watcher = try Self.watcher(fixture, .daemon)
            let name = Person.daemon.account
            let own = try fixture.client(.daemon)
            let verify = Request.verify(account: name, timeoutMilliseconds: 20_000)
            #expect(try fixture.touch(verify, with: ["one"], client: own).done != nil)
            func event(
                _ number: UInt64, _ service: String, _ purpose: String, isOver: Bool
            ) -> Answer {
                .event(
                    EventAnswer(
                        account: name, service: ServiceName(service), requester: name,
                        purpose: Bytes(purpose.utf8), isOver: isOver, number: number))
            }
            #expect(
                try watcher.next() == event(2, "signet", "signet verify", isOver: false))
            #expect(try watcher.next() == event(2, "signet", "signet verify", isOver: true))
            // The caller's own words come last, as such.
            let reason = Request.verify(
                account: name, timeoutMilliseconds: 20_000, reason: Bytes("unlock the door".utf8))
            #expect(try fixture.touch(reason, with: ["one"], client: own).done != nil)
            let purpose = "signet verify, whose caller says: unlock the door"
            #expect(try watcher.next() == event(3, "signet", purpose, isOver: false))
            #expect(try watcher.next() == event(3, "signet", purpose, isOver: true))
            for bad in ["", "two\nlines", "\u{202E}rood", String(repeating: "x", count: 201)] {
                let request = Request.verify(
                    account: name, timeoutMilliseconds: 20_000, reason: Bytes(bad.utf8))
                #expect(try own.ask(request).reason == .badRequest, "'\(bad)'")
            }
            let login = try fixture.touch(
                .login(.daemon, service: "i3lock"), with: ["one"], client: own)
            #expect(login.assertion != nil)
            // What is confirmed is believed of programs with root's rights alone.
            #expect(try watcher.next() == event(4, "i3lock", "", isOver: false))
            #expect(try watcher.next() == event(4, "i3lock", "", isOver: true))
            let statement = try #require(
                login.assertion.flatMap { try? Statement(parsing: $0.statement) })
            #expect(statement.purpose.isEmpty && statement.command.isEmpty)
        }

        @Test("only root watches another account's touches")
        func permission() throws {
            let fixture = try Self.fixture()
            for person in [Person.bin, .games] {
                let answer = try fixture.client(person).ask(.watch(account: Person.daemon.account))
                #expect(answer.reason == .notPermitted)
            }
            let root = try Self.watcher(fixture, .root)
            #expect(try fixture.touch(Self.hidden(), with: ["one"]).assertion != nil)
            #expect(try root.next() == Self.event(2, isOver: false))
        }

        @Test("the end is reported, whether the watcher cancels or the daemon stops")
        func end() throws {
            let fixture = try Self.fixture()
            let patient = try Self.watcher(fixture, .daemon)
            let brief = try Self.watcher(fixture, .daemon)
            try brief.send(.cancel)
            #expect(try brief.last().reason == .cancelled)
            fixture.program.signal(SIGTERM)
            #expect(try patient.last().reason == .stopping)
        }

        @Test("does not keep the daemon running, and reconnects when it is back")
        func idleness() throws {
            let fixture = try DaemonFixture(configuration: "[daemon]\nidle-exit = 1s\n")
            let activated = try fixture.activated()
            let watcher = try fixture.client()
            try watcher.send(.watch(account: Person.daemon.account))
            #expect(try watcher.last().reason == .stopping)
            #expect(try activated.expectEnd().ending == .exited(0))
            let device = fixture.state + "/device-id"
            let before = try Layout.modificationTime(device)
            try fixture.restart()
            #expect(try fixture.ask(.readers).done != nil)
            #expect(try Layout.modificationTime(device) > before)
        }

        @Test("a watcher that sends a request afterwards keeps the daemon running again")
        func active() throws {
            let fixture = try DaemonFixture([.text], configuration: "[daemon]\nidle-exit = 3s\n")
            try fixture.enrol(.daemon, as: "one")
            let activated = try fixture.activated()
            let client = try fixture.client()
            try client.send(.watch(account: Person.daemon.account))
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            // This outlasts the idle time.
            var waiting = pollfd(fd: -1, events: 0, revents: 0)
            _ = unsafe poll(&waiting, 1, 3_300)
            #expect(activated.ended == nil)
            try fixture.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
        }
    }
}
