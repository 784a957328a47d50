// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Real xsecurelock on a real X server without a screen. A key has its helper (`authproto_pam`, as
/// the person) start PAM, with `common-auth` as the service's name and the profile's order.
@Suite("xsecurelock", .timeLimit(.minutes(5)), .notingCells)
struct XSecureLockTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let screen: Screen

    init() throws {
        signet = try SignetFixture.debian(options: "max-tries=1")
        screen = try Screen(on: signet)
    }

    /// Locks alice's screen. If not told to be `isLocal`, it says that the remote host `localhost`
    /// asks.
    private func lock(isLocal: Bool = true) throws -> TestSupport.Program {
        var environment = Screen.environment
        if isLocal { environment["XSECURELOCK_NO_PAM_RHOST"] = "1" }
        let locker = try host.start(
            ["xsecurelock", "--", "echo", "locked"], as: HostFixture.alice, environment: environment
        )
        try locker.expect("locked")
        return locker
    }

    private func expectUnlocked(_ locker: TestSupport.Program) throws {
        #expect(try locker.expectEnd().ending == .exited(0))
    }

    private var isAsked: Bool {
        host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" }
    }

    @Test("a key, and a touch unlocks")
    func finger() throws {
        shows(.xsecurelock, .finger)
        let locker = try lock()
        try screen.press("Return")
        signet.touchBlindly(Touch.alice) { locker.ended != nil }
        try expectUnlocked(locker)
        let decision = try host.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate"
        }
        #expect(decision["SIGNET_PEER_UID"] == "4242")
        #expect(decision["SIGNET_SERVICE"] == "common-auth")
        #expect(decision["SIGNET_TERMINAL"] == "")
    }

    @Test(
        "others' fingers leave it locked, and then the password unlocks",
        arguments: [Touch.bob, Touch.nobody])
    func fingerThenPassword(stranger: String) throws {
        shows(.xsecurelock, .wrongFinger, .fingerThenPassword)
        let locker = try lock()
        try screen.press("Return")
        signet.touchBlindly(stranger) { signet.hasDenied("noMatch") }
        try signet.expectDenial("noMatch")
        #expect(locker.ended == nil)
        try screen.type(HostFixture.alice.password)
        try expectUnlocked(locker)
    }

    @Test("the password, typed while the finger's time runs, unlocks when that is over")
    func password() throws {
        shows(.xsecurelock, .password)
        try signet.installStacks(options: "timeout=2")
        let locker = try lock()
        try screen.press("Return")
        try screen.type(HostFixture.alice.password)
        try expectUnlocked(locker)
        #expect(isAsked)
    }

    @Test("a wrong password leaves it locked, and then a touch unlocks")
    func wrongPassword() throws {
        shows(.xsecurelock, .wrongPassword)
        let locker = try lock()
        try screen.press("Return")
        signet.touchBlindly(Touch.nobody) { signet.hasDenied("noMatch") }
        try signet.expectDenial("noMatch")
        try screen.type(HostFixture.bob.password)
        try host.journal.expect("the refusal of the password") {
            $0["SYSLOG_IDENTIFIER"] == "authproto_pam"
                && $0.message.contains("authentication failure")
        }
        #expect(locker.ended == nil)
        // It is at its prompt or back at the blank screen: a key too many does nothing.
        signet.touchBlindly(Touch.alice) {
            if locker.ended == nil { try? screen.press("Return") }
            return locker.ended != nil
        }
        try expectUnlocked(locker)
    }

    /// Gives the password at the prompt, which a key leads to at once.
    private func passByPassword(_ locker: TestSupport.Program) throws {
        try screen.press("Return")
        try screen.type(HostFixture.alice.password)
        try expectUnlocked(locker)
    }

    @Test("saying that it is asked from `localhost`, as it does, it gets the password alone")
    func remoteHost() throws {
        shows(.xsecurelock, .password)
        try passByPassword(lock(isLocal: false))
        #expect(!isAsked)
    }

    @Test("without a reader the password unlocks")
    func noReader() throws {
        shows(.xsecurelock, .noReader)
        try signet.stop()
        try signet.start(readers: [])
        try passByPassword(lock())
        try signet.expectDenial("noReader")
    }

    @Test("without a finger enrolled the password unlocks")
    func notEnrolled() throws {
        shows(.xsecurelock, .notEnrolled)
        try signet.ask(.delete(account: "alice", finger: nil))
        try passByPassword(lock())
    }

    @Test("locked out, the password unlocks the screen")
    func lockedOut() throws {
        shows(.xsecurelock, .lockedOut)
        try signet.setFailures(20, of: HostFixture.alice)
        try passByPassword(lock())
        try signet.expectDenial("lockedUntilPassword")
    }

    @Test(
        "without a daemon, or with one that stands still, the password unlocks",
        arguments: [false, true])
    func noDaemon(isSilent: Bool) throws {
        shows(.xsecurelock, isSilent ? .daemonSilent : .daemonDown)
        if isSilent { signet.suspend() } else { try signet.stop() }
        try passByPassword(lock())
        signet.resume()
    }
}
