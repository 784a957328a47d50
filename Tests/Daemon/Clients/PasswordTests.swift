// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("the password's proof") struct PasswordTests {
        private static let name = Person.daemon.account
        /// Every request that wants it.
        private static let requests: [Request] = [
            .enroll(account: name, finger: .leftThumb, readerID: nil),
            .delete(account: name, finger: .rightIndex), .enable(account: name),
            .disable(account: name), .unlock(account: name), .importPrint(account: name),
        ]

        private func ask(_ client: TestClient, _ request: Request, _ password: String) throws {
            try client.send(request)
            #expect(try client.isAskedPassword(of: Self.name))
            try client.send(.password(Bytes(password.utf8)))
        }

        @Test("without the right password nothing of the account changes")
        func refusals() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let before = try fixture.status(of: .daemon)
            let client = try fixture.client(.daemon)
            let verdicts: [(String, DenialReason)] = [
                ("wrong", .noPassword), ("denied", .noPassword), ("expired", .accountExpired),
                ("outdated", .passwordExpired),
                ("crash", .passwordCheckFailed), ("", .passwordCheckFailed),
            ]
            for request in Self.requests {
                for (password, reason) in verdicts {
                    try ask(client, request, password)
                    #expect(try client.last().reason == reason, "\(request) \(password)")
                }
                try client.send(request)
                try #require(try client.next() != nil)
                try client.send(.cancel)
                #expect(try client.last() == .denial(Denial(.cancelled)))
            }
            #expect(try fixture.status(of: .daemon) == before)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test(
            "a user without a password is told so after a rejected one, and not that it is wrong"
        )
        func none() throws {
            let fixture = try DaemonFixture.withShadow()
            let client = try fixture.client(.daemon)
            for (field, reason, subject) in [
                ("$6$salt$hash", DenialReason.wrongPassword, nil),
                ("*", .noPassword, "the account has no password"),
                ("!", .noPassword, "the account has no password"),
                ("!*", .noPassword, "the account has no password"),
                ("", .noPassword, "the account has no password"),
                ("!$6$salt$hash", .noPassword, "the password is locked"),
                // Another module than pam_unix knows it.
                ("x", .wrongPassword, nil),
            ] {
                try fixture.changeShadow(hash: field)
                try ask(client, Self.requests[4], "wrong")
                let denied = Denial(reason, subject: subject.map { Bytes($0.utf8) })
                #expect(try client.last() == .denial(denied), "'\(field)'")
                // What the account's own check accepts counts, whatever stands there.
                try ask(client, Self.requests[4], "right")
                #expect(try client.last().reason == .notEnrolled, "'\(field)'")
            }
        }

        @Test("with the right password each request is executed; root needs none")
        func right() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client(.daemon)
            for (request, expected) in [
                (Self.requests[3], DoneAnswer(state: .disabled)),
                (Self.requests[2], DoneAnswer(prints: 1, state: .valid)),
                (Self.requests[4], DoneAnswer()),
            ] {
                try ask(client, request, "right")
                #expect(try client.last() == .done(expected))
            }
            try ask(client, Self.requests[0], "right")
            let enrolled = try fixture.scanEnrolment(client, as: "two", checking: true)
            #expect(enrolled.done == DoneAnswer(finger: .leftThumb, prints: 2, state: .valid))
            try ask(client, Self.requests[1], "right")
            let deleted = try client.last()
            #expect(deleted.done == DoneAnswer(finger: .rightIndex, prints: 1, state: .valid))
            // The check was asked about the account, each time, and never for root.
            let checked = try String(
                decoding: Layout.read(fixture.directory + "/checked"), as: UTF8.self)
            #expect(checked == String(repeating: "daemon\n", count: 5))
        }

        @Test(
            "a password of any length that fits a frame is accepted, a longer one is an invalid frame"
        )
        func lengths() throws {
            let fixture = try DaemonFixture()
            let client = try fixture.client(.bin)
            try client.send(.unlock(account: Person.bin.account))
            try #require(try client.next() != nil)
            try client.send(.password(Bytes(repeating: 0x61, count: Limit.password)))
            #expect(try client.last().reason == .passwordCheckFailed)
            try client.send(.unlock(account: Person.bin.account))
            try #require(try client.next() != nil)
            try client.send([1, 14, 10, 4, 0] + Bytes(repeating: 0x61, count: 1_024))
            #expect(try client.end().map(\.reason) == [.badRequest])
        }

        @Test("one password of an account is checked at a time, and others' beside it")
        func oneAtATime() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let slow = try fixture.client(.daemon)
            try ask(slow, .unlock(account: Self.name), "slow")
            let second = try fixture.client(.daemon)
            try ask(second, .unlock(account: Self.name), "right")
            #expect(try second.last() == .denial(Denial(.tooManyRequests)))
            let other = try fixture.client(.bin)
            try other.send(.unlock(account: Person.bin.account))
            try #require(try other.next() != nil)
            try other.send(.password(Bytes("right".utf8)))
            #expect(try other.last() == .denial(Denial(.notEnrolled)))
            try slow.send(.cancel)
            #expect(try slow.last() == .denial(Denial(.cancelled)))
            try ask(second, .unlock(account: Self.name), "right")
            #expect(try second.last() == .done(DoneAnswer()))
        }

        @Test("a check that takes too long, or that no client waits for, is ended")
        func tooLong() throws {
            let fixture = try DaemonFixture(configuration: "[password]\ntimeout = 1s\n")
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client(.daemon)
            try ask(client, .unlock(account: Self.name), "slow")
            #expect(try client.last() == .denial(Denial(.passwordCheckFailed)))
            do {
                let gone = try fixture.client(.daemon)
                try ask(gone, .unlock(account: Self.name), "slow")
            }
            // The next check begins only when the last process has been reaped.
            var answer = Answer.denial(Denial(.tooManyRequests))
            while answer.reason == .tooManyRequests {
                try ask(client, .unlock(account: Self.name), "right")
                answer = try client.last()
            }
            #expect(answer == .done(DoneAnswer()))
            #expect(try fixture.ownChildren.isEmpty)
        }

        @Test("no copy of a password stays in the daemon's memory")
        func wiped() throws {
            let fixture = try DaemonFixture()
            let client = try fixture.client(.bin)
            let secret = "kestrel-\(getpid())-umbrella"
            for _ in 0..<3 {
                try client.send(.unlock(account: Person.bin.account))
                try #require(try client.next() != nil)
                try client.send(.password(Bytes(secret.utf8)))
                #expect(try client.last().reason == .passwordCheckFailed)
            }
            #expect(try !fixture.memoryHolds(secret))
            #expect(try fixture.memoryHolds("signet.conf"), "the search finds what is there")
        }
    }
}

extension DaemonFixture {
    /// The daemon's own processes, without the one that stands in for systemd here.
    var ownChildren: [Int32] {
        get throws {
            try Self.children(of: program.pid).filter { pid in
                (try? Layout.read("/proc/\(pid)/comm")) != Array("activator\n".utf8)
            }
        }
    }

    /// Whether the daemon's writable memory has these bytes somewhere.
    func memoryHolds(_ text: String) throws -> Bool {
        try ProcessMemory.holds(text, in: program.pid)
    }
}
