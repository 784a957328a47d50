// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// GNOME's stack for the finger alone, driven as gdm's worker does: as root, without a terminal,
/// with no user who could answer a prompt. gdm itself, its greeter and GNOME Shell do not run here.
@Suite("gdm-fingerprint", .timeLimit(.minutes(5)), .notingCells)
struct FingerprintStackTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.debian()
        try signet.host.install(
            "\(Layout.package)/pam/examples/gdm-fingerprint", at: "/etc/pam.d/gdm-fingerprint",
            mode: 0o644)
        try signet.shell(
            "sed -i 's/pam_signet.so/& max-tries=1/' /etc/pam.d/gdm-fingerprint")
    }

    private func worker() throws -> TestSupport.Program {
        try host.start(
            [
                "pamtester", "-I", "tty=/dev/tty1", "gdm-fingerprint", "alice", "authenticate",
                "acct_mgmt", "setcred(PAM_ESTABLISH_CRED)", "open_session", "close_session",
            ], in: .unit("gdm.service"))
    }

    private func expectRefusal(_ worker: TestSupport.Program) throws {
        let outcome = try worker.expectEnd()
        #expect(!outcome.succeeded)
        #expect(!outcome.output.contains("authenticated"))
        // Nobody could answer, so nothing may be asked.
        #expect(!(outcome.output + outcome.errors).contains("assword: "))
    }

    @Test("a touch opens a session")
    func finger() throws {
        shows(.gdm, .finger)
        let worker = try worker()
        signet.touchBlindly(Touch.alice) { worker.ended != nil }
        let outcome = try worker.expectEnd()
        #expect(outcome.succeeded, "\(outcome)")
        #expect(outcome.output.contains("\(SignetFixture.invitation) for gdm-fingerprint (alice)"))
        #expect(outcome.output.contains("successfully opened a session"))
    }

    @Test(
        "others' fingers are refused, and nothing else is asked for",
        arguments: [Touch.bob, Touch.nobody])
    func wrongFinger(stranger: String) throws {
        shows(.gdm, .wrongFinger)
        let worker = try worker()
        signet.touchBlindly(stranger) { worker.ended != nil }
        try expectRefusal(worker)
        try signet.expectDenial("noMatch")
    }

    @Test("without a reader it ends at once, and leaves the password to gdm-password")
    func noReader() throws {
        shows(.gdm, .noReader)
        try signet.stop()
        try signet.start(readers: [])
        try expectRefusal(worker())
    }

    @Test("without a finger enrolled it ends at once")
    func notEnrolled() throws {
        shows(.gdm, .notEnrolled)
        try signet.ask(.delete(account: "alice", finger: nil))
        try expectRefusal(worker())
    }

    @Test("locked out, it ends at once")
    func lockedOut() throws {
        shows(.gdm, .lockedOut)
        try signet.setFailures(20, of: HostFixture.alice)
        try expectRefusal(worker())
        try signet.expectDenial("lockedUntilPassword")
    }

    @Test(
        "without a daemon, or with one that stands still, it ends in time",
        arguments: [false, true])
    func noDaemon(isSilent: Bool) throws {
        shows(.gdm, isSilent ? .daemonSilent : .daemonDown)
        if isSilent { signet.suspend() } else { try signet.stop() }
        try expectRefusal(worker())
        signet.resume()
    }

    @Test("a worker that ends in the moment before the reader is asked has asked for nothing")
    func left() throws {
        let line = "/etc/pam.d/gdm-fingerprint"
        try signet.shell("grep -q delay=500 \(line) && sed -i 's/=500/=5000 debug/' \(line)")
        let begun = ContinuousClock.now
        let worker = try worker()
        try host.journal.expect("the module at work") { $0.message.contains("signet-module") }
        worker.signal(SIGTERM)
        try worker.expectEnd()
        #expect(ContinuousClock.now - begun < .seconds(4))
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })

        try signet.shell("sed -i 's/=5000/=500/' \(line)")
        let again = ContinuousClock.now
        let next = try self.worker()
        signet.touchBlindly(Touch.alice) { next.ended != nil }
        #expect(try next.expectEnd().succeeded)
        #expect(ContinuousClock.now - again >= .milliseconds(500))
    }
}
