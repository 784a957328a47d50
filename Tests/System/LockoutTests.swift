// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("after fingers that did not match", .timeLimit(.minutes(5)))
struct LockoutTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited(options: "max-tries=5", allowsOthers: true)
    }

    private func sudo() throws -> Terminal {
        try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
    }

    @Test("five lock the finger for 30 s, by a clock that cannot be set; sudo's password lifts it")
    func pause() throws {
        let terminal = try sudo()
        try signet.mismatch(4, on: terminal)
        try terminal.expectInvitation()
        try signet.touch(Touch.nobody)
        try terminal.expect("too many failed scans: wait 30 s, or use the password")
        #expect(try signet.status(HostFixture.alice).lock == .forNow)
        #expect(try signet.failures(of: HostFixture.alice) == 5)
        try expectPauseByBootClock()

        // The right finger does not help, and no restart forgives.
        try signet.stop()
        try signet.start()
        let locked = try sudo()
        try locked.expect("too many failed scans: wait ")
        try locked.expect("password for alice: ")
        #expect(!locked.transcript.contains(SignetFixture.invitation))
        #expect(try signet.status(HostFixture.alice).lock == .forNow)

        try terminal.passBySudosPrompt()
        #expect(try signet.status(HostFixture.alice).lock == .open)
        #expect(try signet.failures(of: HostFixture.alice) == 0)
        let next = try sudo()
        try next.expectInvitation()
        // What this reader keeps itself went with the daemon that simulates it.
        try signet.reader().send(.insert(Touch.alice))
        try signet.touch(Touch.alice)
        try next.expect("root\r\n")
        #expect(try next.expectEnd() == .exited(0))
    }

    /// The record holds the time since boot, which the wall clock has no part in.
    private func expectPauseByBootClock() throws {
        let record = String(
            decoding: try host.read("\(SignetFixture.state(of: HostFixture.alice))/lockout"),
            as: UTF8.self)
        let lines = record.split(separator: "\n").map(String.init)
        let boot = String(
            decoding: try host.read("/proc/sys/kernel/random/boot_id"), as: UTF8.self)
        #expect(lines.contains("boot: \(boot.filter { $0 != "\n" })"))
        let uptime = String(decoding: try host.read("/proc/uptime"), as: UTF8.self)
        let now = try #require(uptime.split(separator: " ").first.flatMap { Double($0) })
        let paused = try #require(lines.first { $0.hasPrefix("paused: ") })
        let nanoseconds = try #require(Double(paused.dropFirst("paused: ".count)))
        #expect((now - 30...now + 1).contains(nanoseconds / 1e9))
    }

    @Test("twenty lock the finger until the password; the password at login lifts it")
    func untilPassword() throws {
        try signet.setFailures(19, of: HostFixture.alice)
        let terminal = try sudo()
        try terminal.expectInvitation()
        try signet.touch(Touch.nobody)
        try terminal.expect("fingerprint login is locked for alice")
        try terminal.expect("password for alice: ")
        terminal.hangUp()
        #expect(try signet.status(HostFixture.alice).lock == .untilPassword)
        try signet.expectDenial("lockedUntilPassword")

        let login = try host.terminal(["login", "alice"], as: HostFixture.root, in: .console)
        try login.expect("Log in with the password, or run 'signet unlock'")
        try login.expect("Password: ")
        try login.sendLine(HostFixture.alice.password)
        try login.expect("alice@linux$ ")
        #expect(try signet.status(HostFixture.alice).lock == .open)
        #expect(try signet.failures(of: HostFixture.alice) == 0)
        try login.sendLine("exit")
        try login.expectEnd()
    }

    @Test("su's password lifts it")
    func su() throws {
        try signet.setFailures(20, of: HostFixture.bob)
        let terminal = try host.terminal(["su", "bob", "-c", "id -un"], as: HostFixture.alice)
        try terminal.expect("Password: ")
        try terminal.sendLine(HostFixture.bob.password)
        try terminal.expect("bob\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(try signet.status(HostFixture.bob).lock == .open)
    }

    @Test("a wrong password lifts nothing")
    func wrongPassword() throws {
        try signet.setFailures(20, of: HostFixture.alice)
        let terminal = try sudo()
        for _ in 0..<3 {
            try terminal.expect("password for alice: ")
            try terminal.sendLine("wrong")
        }
        #expect(try terminal.expectEnd() == .exited(1))
        #expect(try signet.status(HostFixture.alice).lock == .untilPassword)
    }

    @Test("credentials without a login, as cron establishes them, lift nothing")
    func cron() throws {
        try signet.setFailures(20, of: HostFixture.alice)
        try host.run(
            ["pamtester", "xlock", "alice", "acct_mgmt", "setcred(PAM_ESTABLISH_CRED)"])
        #expect(try signet.status(HostFixture.alice).lock == .untilPassword)
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "passwordAccepted" })
    }

    @Test("a match forgets the failures before it")
    func match() throws {
        let terminal = try sudo()
        try signet.mismatch(4, on: terminal)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(try signet.status(HostFixture.alice).lock == .open)
        #expect(try signet.failures(of: HostFixture.alice) == 0)
    }

    @Test("a daemon killed while a finger is awaited has counted the attempt")
    func killed() throws {
        let terminal = try sudo()
        try terminal.expectInvitation()
        try signet.kill()
        try terminal.passBySudosPrompt()
        #expect(try signet.failures(of: HostFixture.alice) == 1)
        try signet.setFailures(19, of: HostFixture.alice)
        try signet.start()
        let again = try sudo()
        try again.expectInvitation()
        try signet.kill()
        try again.expect("password for alice: ")
        try signet.start()
        #expect(try signet.status(HostFixture.alice).lock == .untilPassword)
    }
}
