// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Real i3lock on a real X server without a screen, with the stack of pam/examples.
@Suite("i3lock", .timeLimit(.minutes(5)), .notingCells)
struct LockerProgramTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let screen: Screen

    init() throws {
        signet = try SignetFixture.debian()
        let example = "\(Layout.package)/pam/examples/i3lock"
        try signet.host.install(example, at: "/etc/pam.d/i3lock", mode: 0o644)
        screen = try Screen(on: signet)
    }

    /// Locks alice's screen; a change of the module's options counts from then on.
    private func lock(options: String = "timeout=10 max-tries=1") throws -> TestSupport.Program {
        try signet.shell("sed -i 's/timeout=10/\(options)/' /etc/pam.d/i3lock")
        let locker = try host.start(
            ["i3lock", "--nofork"], as: HostFixture.alice, environment: Screen.environment)
        // It takes the keyboard when its window is there.
        try screen.expectWindow("i3lock")
        return locker
    }

    private func expectUnlocked(_ locker: TestSupport.Program) throws {
        #expect(try locker.expectEnd().ending == .exited(0))
    }

    @Test("Return, and a touch unlocks")
    func finger() throws {
        shows(.i3lock, .finger)
        let locker = try lock()
        // A key that comes before i3lock has the keyboard is lost; one too many does nothing.
        signet.touchBlindly(Touch.alice) {
            if locker.ended == nil { try? screen.press("Return") }
            return locker.ended != nil
        }
        try expectUnlocked(locker)
        let decision = try host.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate"
        }
        #expect(decision["SIGNET_PEER_UID"] == "4242")
        #expect(decision["SIGNET_SERVICE"] == "i3lock")
    }

    @Test("the password unlocks at once, and no touch is asked for")
    func password() throws {
        shows(.i3lock, .password)
        let locker = try lock()
        try screen.type(HostFixture.alice.password)
        try expectUnlocked(locker)
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test(
        "others' fingers leave it locked, and then the password unlocks",
        arguments: [Touch.bob, Touch.nobody])
    func fingerThenPassword(stranger: String) throws {
        shows(.i3lock, .wrongFinger, .fingerThenPassword)
        let locker = try lock()
        try screen.press("Return")
        signet.touchBlindly(stranger) { signet.hasDenied("noMatch") }
        try signet.expectDenial("noMatch")
        #expect(locker.ended == nil)
        try screen.type(HostFixture.alice.password)
        try expectUnlocked(locker)
    }

    @Test("a wrong password leaves it locked, and then a touch unlocks")
    func wrongPassword() throws {
        shows(.i3lock, .wrongPassword)
        let locker = try lock(options: "timeout=4")
        try screen.type(HostFixture.bob.password)
        // Whether the daemon's time is over first, or the module's.
        try host.journal.expect("a denial") {
            $0["SIGNET_VERB"] == "authenticate" && $0["SIGNET_DECISION"] == "deny"
        }
        #expect(locker.ended == nil)
        try screen.press("Return")
        signet.touchBlindly(Touch.alice) { locker.ended != nil }
        try expectUnlocked(locker)
    }

    /// Presses Return alone, which leads nowhere, and then gives the password.
    private func passByPassword() throws {
        let locker = try lock()
        try screen.press("Return")
        try host.journal.expect("the refusal of no password") {
            $0["SYSLOG_IDENTIFIER"] == "i3lock" && $0.message.contains("authentication failure")
        }
        #expect(locker.ended == nil)
        try screen.type(HostFixture.alice.password)
        try expectUnlocked(locker)
    }

    @Test("without a reader the password unlocks")
    func noReader() throws {
        shows(.i3lock, .noReader)
        try signet.stop()
        try signet.start(readers: [])
        try passByPassword()
        try signet.expectDenial("noReader")
    }

    @Test("without a finger enrolled the password unlocks")
    func notEnrolled() throws {
        shows(.i3lock, .notEnrolled)
        try signet.ask(.delete(account: "alice", finger: nil))
        try passByPassword()
    }

    @Test("locked out, the password unlocks the screen")
    func lockedOut() throws {
        shows(.i3lock, .lockedOut)
        try signet.setFailures(20, of: HostFixture.alice)
        try passByPassword()
        try signet.expectDenial("lockedUntilPassword")
    }

    @Test(
        "without a daemon, or with one that stands still, the password unlocks",
        arguments: [false, true])
    func noDaemon(isSilent: Bool) throws {
        shows(.i3lock, isSilent ? .daemonSilent : .daemonDown)
        if isSilent { signet.suspend() } else { try signet.stop() }
        try passByPassword()
        signet.resume()
    }
}
