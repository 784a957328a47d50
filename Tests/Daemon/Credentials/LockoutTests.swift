// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import Glibc
import LoginProtocol
import MainContext
import Posix
import State
import TestSupport
import Testing

@testable import Daemon

extension DaemonTests {
    @Suite("lockout") struct LockoutTests {
        private static let verify = Request.verify(
            account: Person.daemon.account, timeoutMilliseconds: 20_000)

        @Test("each finger that does not match counts, and a match forgives all")
        func counting() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            let answer = try fixture.touch(
                .login(.daemon, tries: 2), with: ["two", "three"], client: client)
            #expect(answer == .denial(Denial(.noMatch, mismatches: 2)))
            #expect(client.heard.contains(.notice(Notice(.noMatch, triesLeft: 1))))
            #expect(try fixture.failures(of: .daemon) == 2)
            #expect(
                try fixture.touch(Self.verify, with: ["two"])
                    == .denial(Denial(.noMatch, mismatches: 1)))
            #expect(try fixture.failures(of: .daemon) == 3, "a check of the finger counts too")
            let matched = try fixture.touch(.login(.daemon, tries: 2), with: ["two", "one"])
            #expect(matched.assertion != nil)
            #expect(try fixture.status(of: .daemon).lock == .open)
            #expect(try fixture.failures(of: .daemon) == 0)
        }

        @Test("the fifth failure locks for a while, even a right finger; unlock opens")
        func pause() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let wrong = ["two", "two", "two", "two", "two"]
            let locked = try fixture.touch(.login(.daemon, tries: 5), with: wrong)
            #expect(locked.reason == .lockedForNow && locked.denial?.mismatches == 5)
            let next = try #require(try fixture.ask(.login(.daemon)).denial)
            #expect(next.reason == .lockedForNow && (1...30).contains(next.seconds ?? 0))
            #expect(try fixture.ask(Self.verify).reason == .lockedForNow)
            #expect(try fixture.status(of: .daemon).lock == .forNow)
            try fixture.restart()
            #expect(try fixture.ask(.login(.daemon)).reason == .lockedForNow)
            let unlocked = try fixture.ask(.unlock(account: Person.daemon.account))
            #expect(unlocked == .done(DoneAnswer()))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("is reported before a print is opened; what became of the prints, when it is lifted")
        func beforePrints() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try fixture.setFailures(20, of: .daemon)
            for print in fixture.prints(of: .daemon) { try DaemonFixture.damage(print) }
            #expect(try fixture.ask(.login(.daemon)).reason == .lockedUntilPassword)
            _ = try fixture.ask(.unlock(account: Person.daemon.account))
            #expect(try fixture.ask(.login(.daemon)).reason == .invalidated)
            try fixture.setFailures(20, of: .daemon)
            #expect(try fixture.ask(.login(.daemon)).reason == .invalidated)
        }

        @Test(
            "is reported with the lid closed and without a reader; nothing is written without one")
        func beforeReaders() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            try fixture.setLid("state:      closed\n")
            try fixture.setFailures(20, of: .daemon)
            #expect(try fixture.ask(.login(.daemon)).reason == .lockedUntilPassword)
            try fixture.setLid("")
            try fixture.setFailures(0, of: .daemon)
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            try fixture.unplug(fixture.text)
            #expect(try client.last().reason == .readerRemoved)
            try fixture.setFailures(20, of: .daemon)
            #expect(try fixture.ask(.login(.daemon)).reason == .lockedUntilPassword)
            try fixture.setFailures(0, of: .daemon)
            let receipts = try Layout.read(fixture.file("receipts", of: .daemon))
            #expect(try fixture.ask(.login(.daemon)) == .denial(Denial(.noReader)))
            #expect(try fixture.failures(of: .daemon) == 0)
            #expect(try Layout.read(fixture.file("receipts", of: .daemon)) == receipts)
        }

        @Test("the twentieth failure locks until the password")
        func untilPassword() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.setFailures(19, of: .daemon)
            #expect(try fixture.login(.daemon, with: "two").reason == .lockedUntilPassword)
            #expect(try fixture.status(of: .daemon).lock == .untilPassword)
            let client = try fixture.client(.daemon)
            try client.send(.unlock(account: Person.daemon.account))
            #expect(try client.isAskedPassword(of: Person.daemon.account))
            try client.send(.password(Bytes("wrong".utf8)))
            #expect(try client.last().reason == .noPassword)
            #expect(try fixture.ask(.login(.daemon)).reason == .lockedUntilPassword)
            try client.send(.unlock(account: Person.daemon.account))
            try #require(client.next() != nil)
            try client.send(.password(Bytes("right".utf8)))
            #expect(try client.last() == .done(DoneAnswer()))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a crash in mid-scan counts as a failure; a clean stop, a hang-up, a time-out do not")
        func interrupted() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            #expect(try fixture.failures(of: .daemon) == 1, "on disk before the finger came")
            try fixture.restart(by: SIGKILL)
            #expect(try fixture.failures(of: .daemon) == 1)

            let stopped = try fixture.client()
            try stopped.send(.login(.daemon))
            try stopped.wait(for: .touch)
            try fixture.restart(by: SIGTERM)
            #expect(try fixture.failures(of: .daemon) == 1)

            #expect(try fixture.ask(.login(.daemon, milliseconds: 50)).reason == .timedOut)
            #expect(try fixture.failures(of: .daemon) == 1)
            do {
                let gone = try fixture.client()
                try gone.send(.login(.daemon))
                try gone.wait(for: .touch)
            }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.status(of: .daemon).lock == .open)
            #expect(try fixture.failures(of: .daemon) == 0)
        }

        @Test("a failure stays counted when the reader is unplugged after it")
        func unplugged() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            try fixture.storage.send(.scan("two"))
            try client.wait(for: .noMatch)
            try client.wait(for: .touch)
            try fixture.unplug(fixture.storage)
            #expect(try client.last() == .denial(Denial(.readerRemoved, mismatches: 1)))
            #expect(try fixture.failures(of: .daemon) == 1)
        }

        @Test("a scan that was merely bad counts for nothing")
        func badScan() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            for (code, reason) in [
                (0, RetryReason.unclear), (1, .tooShort), (2, .offCentre),
                (3, .removeFinger),
            ] {
                try fixture.storage.send(.retry(code))
                #expect(try client.wait(for: .retry).retry == reason)
            }
            try fixture.storage.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            #expect(!client.heard.contains { $0.notice?.kind == .noMatch })
        }

        @Test(
            "a password that lifts the lockout in mid-scan holds, and the next failure is the first"
        )
        func liftedMeanwhile() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.setFailures(7, of: .daemon)
            for hangsUp in [true, false] {
                let client = try fixture.client()
                try client.send(.login(.daemon, tries: 1))
                try client.wait(for: .touch)
                #expect(try fixture.failures(of: .daemon) == (hangsUp ? 8 : 1))
                _ = try fixture.ask(.unlock(account: Person.daemon.account))
                #expect(try fixture.failures(of: .daemon) == 0)
                if hangsUp {
                    try client.send(.cancel)
                    #expect(try client.last().reason == .cancelled)
                    #expect(try fixture.failures(of: .daemon) == 0)
                } else {
                    try fixture.storage.send(.scan("two"))
                    #expect(try client.last().reason == .noMatch)
                    #expect(try fixture.failures(of: .daemon) == 1)
                }
            }
        }

        @Test("a success that is recorded late forgives no failure that came after it")
        func lateSuccess() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let store = try fixture.kept(.daemon).lockout
            let account = try #require(try Account.named("daemon"))
            func failures() throws -> UInt32 { try fixture.failures(of: .daemon) }
            func attempt() throws -> any LockoutAttempt {
                try waiting {
                    try AccountLockout(
                        account: account, store: store,
                        time: LockoutTime(boot: [1], clock: .system),
                        journal: DecisionJournal(foreground: false)
                    ).begin()
                }
            }
            for before in [0, 3] as [UInt32] {
                try fixture.setFailures(before, of: .daemon)
                let matched = try attempt()
                try matched.succeeded()
                #expect(try failures() == 0)
                try fixture.setFailures(before, of: .daemon)
                // Another finger is tried, and does not match, before the success is on disk.
                let slow = try attempt()
                let other = try attempt()
                #expect(try failures() == before + 2)
                if before == 0 { try other.failed() }
                try slow.succeeded()
                #expect(try failures() == 1, "the other one, whether it has failed or still waits")
            }
        }

        @Test("a damaged record is a lockout until the password")
        func damaged() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try DaemonFixture.write("failures: 0\n", to: fixture.file("lockout", of: .daemon))
            #expect(try fixture.ask(.login(.daemon)).reason == .lockedUntilPassword)
            _ = try fixture.ask(.unlock(account: Person.daemon.account))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }
    }
}
