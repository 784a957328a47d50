// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("lockout") struct LockoutTests {
        private static let verify = Request.verify(
            account: Person.daemon.bytes, timeoutMilliseconds: 20_000)

        @Test("each finger that does not match counts, and a match forgives all")
        func counting() throws {
            let bench = try DaemonBench()
            try bench.enrol(.daemon, as: "one")
            let client = try bench.client()
            let answer = try bench.touch(
                .login(.daemon, tries: 2), with: ["two", "three"], client: client)
            #expect(answer == .denial(Denial(.noMatch, mismatches: 2)))
            #expect(client.heard.contains(.notice(Notice(.noMatch, triesLeft: 1))))
            #expect(try bench.failures(of: .daemon) == 2)
            #expect(
                try bench.touch(Self.verify, with: ["two"])
                    == .denial(Denial(.noMatch, mismatches: 1)))
            #expect(try bench.failures(of: .daemon) == 3, "a check of the finger counts too")
            let matched = try bench.touch(.login(.daemon, tries: 2), with: ["two", "one"])
            #expect(matched.assertion != nil)
            #expect(try bench.status(of: .daemon).lock == .open)
            #expect(try bench.failures(of: .daemon) == 0)
        }

        @Test("the fifth failure locks for a while, even a right finger; unlock opens")
        func pause() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            let wrong = ["two", "two", "two", "two", "two"]
            let locked = try bench.touch(.login(.daemon, tries: 5), with: wrong)
            #expect(locked.reason == .lockedForNow && locked.denial?.mismatches == 5)
            let next = try #require(try bench.ask(.login(.daemon)).denial)
            #expect(next.reason == .lockedForNow && (1...30).contains(next.seconds ?? 0))
            #expect(try bench.ask(Self.verify).reason == .lockedForNow)
            #expect(try bench.status(of: .daemon).lock == .forNow)
            try bench.restart()
            #expect(try bench.ask(.login(.daemon)).reason == .lockedForNow)
            let unlocked = try bench.ask(.unlock(account: Person.daemon.bytes))
            #expect(unlocked == .done(DoneAnswer()))
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("is told before a print is opened; what became of the prints, when it is lifted")
        func beforePrints() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            try bench.setFailures(20, of: .daemon)
            for print in bench.prints(of: .daemon) { try DaemonBench.damage(print) }
            #expect(try bench.ask(.login(.daemon)).reason == .lockedUntilPassword)
            _ = try bench.ask(.unlock(account: Person.daemon.bytes))
            #expect(try bench.ask(.login(.daemon)).reason == .invalidated)
            try bench.setFailures(20, of: .daemon)
            #expect(try bench.ask(.login(.daemon)).reason == .invalidated)
        }

        @Test("is told with the lid closed and without a reader; nothing is written without one")
        func beforeReaders() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            try bench.setLid("state:      closed\n")
            try bench.setFailures(20, of: .daemon)
            #expect(try bench.ask(.login(.daemon)).reason == .lockedUntilPassword)
            try bench.setLid("")
            try bench.setFailures(0, of: .daemon)
            let client = try bench.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            try bench.unplug(bench.text)
            #expect(try client.last().reason == .readerRemoved)
            try bench.setFailures(20, of: .daemon)
            #expect(try bench.ask(.login(.daemon)).reason == .lockedUntilPassword)
            try bench.setFailures(0, of: .daemon)
            let receipts = try Layout.read(bench.file("receipts", of: .daemon))
            #expect(try bench.ask(.login(.daemon)) == .denial(Denial(.noReader)))
            #expect(try bench.failures(of: .daemon) == 0)
            #expect(try Layout.read(bench.file("receipts", of: .daemon)) == receipts)
        }

        @Test("the twentieth failure locks until the password")
        func untilPassword() throws {
            let bench = try DaemonBench()
            try bench.enrol(.daemon, as: "one")
            try bench.setFailures(19, of: .daemon)
            #expect(try bench.login(.daemon, with: "two").reason == .lockedUntilPassword)
            #expect(try bench.status(of: .daemon).lock == .untilPassword)
            let client = try bench.client(.daemon)
            try client.send(.unlock(account: Person.daemon.bytes))
            #expect(try client.next() == .passwordWanted(account: Person.daemon.bytes))
            try client.send(.password(Bytes("wrong".utf8)))
            #expect(try client.last().reason == .noPassword)
            #expect(try bench.ask(.login(.daemon)).reason == .lockedUntilPassword)
            try client.send(.unlock(account: Person.daemon.bytes))
            try #require(client.next() != nil)
            try client.send(.password(Bytes("right".utf8)))
            #expect(try client.last() == .done(DoneAnswer()))
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a crash in mid-scan counts as a failure; a clean stop, a hang-up, a time-out do not")
        func interrupted() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            let client = try bench.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            #expect(try bench.failures(of: .daemon) == 1, "on disk before the finger came")
            try bench.restart(by: SIGKILL)
            #expect(try bench.failures(of: .daemon) == 1)

            let stopped = try bench.client()
            try stopped.send(.login(.daemon))
            try stopped.wait(for: .touch)
            try bench.restart(by: SIGTERM)
            #expect(try bench.failures(of: .daemon) == 1)

            #expect(try bench.ask(.login(.daemon, milliseconds: 50)).reason == .timedOut)
            #expect(try bench.failures(of: .daemon) == 1)
            do {
                let gone = try bench.client()
                try gone.send(.login(.daemon))
                try gone.wait(for: .touch)
            }
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            #expect(try bench.status(of: .daemon).lock == .open)
            #expect(try bench.failures(of: .daemon) == 0)
        }

        @Test("a failure stays counted when the reader is unplugged after it")
        func unplugged() throws {
            let bench = try DaemonBench()
            try bench.enrol(.daemon, as: "one")
            let client = try bench.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            try bench.storage.send(.scan("two"))
            try client.wait(for: .noMatch)
            try client.wait(for: .touch)
            try bench.unplug(bench.storage)
            #expect(try client.last() == .denial(Denial(.readerRemoved, mismatches: 1)))
            #expect(try bench.failures(of: .daemon) == 1)
        }

        @Test("a scan that was merely bad counts for nothing")
        func badScan() throws {
            let bench = try DaemonBench()
            try bench.enrol(.daemon, as: "one")
            let client = try bench.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            for (code, reason) in [
                (0, RetryReason.unclear), (1, .tooShort), (2, .offCentre),
                (3, .removeFinger),
            ] {
                try bench.storage.send(.retry(code))
                #expect(try client.wait(for: .retry).retry == reason)
            }
            try bench.storage.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            #expect(!client.heard.contains { $0.notice?.kind == .noMatch })
        }

        @Test(
            "a password that lifts the lockout in mid-scan holds, and the next failure is the first"
        )
        func liftedMeanwhile() throws {
            let bench = try DaemonBench()
            try bench.enrol(.daemon, as: "one")
            try bench.setFailures(7, of: .daemon)
            for hangsUp in [true, false] {
                let client = try bench.client()
                try client.send(.login(.daemon, tries: 1))
                try client.wait(for: .touch)
                #expect(try bench.failures(of: .daemon) == (hangsUp ? 8 : 1))
                _ = try bench.ask(.unlock(account: Person.daemon.bytes))
                #expect(try bench.failures(of: .daemon) == 0)
                if hangsUp {
                    try client.send(.cancel)
                    #expect(try client.last().reason == .cancelled)
                    #expect(try bench.failures(of: .daemon) == 0)
                } else {
                    try bench.storage.send(.scan("two"))
                    #expect(try client.last().reason == .noMatch)
                    #expect(try bench.failures(of: .daemon) == 1)
                }
            }
        }

        @Test("a damaged record is a lockout until the password")
        func damaged() throws {
            let bench = try DaemonBench()
            try bench.enrol(.daemon, as: "one")
            try DaemonBench.write("failures: 0\n", to: bench.file("lockout", of: .daemon))
            #expect(try bench.ask(.login(.daemon)).reason == .lockedUntilPassword)
            _ = try bench.ask(.unlock(account: Person.daemon.bytes))
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }
    }
}
