// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// Real lightdm, its PAM stacks as Debian has them, on a real X server without a screen; the person
/// at it is played through a greeter without pictures, Tests/HostFixture/greeter.pl.
@Suite("lightdm", .timeLimit(.minutes(5)), .notingCells)
struct DisplayManagerTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let manager: LightDM
    private var screen: TestSupport.Program { manager.said }

    init() throws {
        signet = try SignetFixture.debian(options: "max-tries=2")
        manager = try LightDM(on: signet)
        try manager.expectSaid("connected")
    }

    /// Has the greeter do something.
    private func `do`(_ command: String) throws {
        try host.write("/run/command", command + "\n")
        try signet.shell("cat /run/command >/run/greeter/commands")
    }

    private func expectSession() throws {
        try screen.expect("authenticated: 0")
        try `do`("start")
        try screen.expect("session of alice")
    }

    @Test("a touch at the greeter opens a session")
    func finger() throws {
        shows(.lightdm, .finger)
        try `do`("user alice")
        try screen.expect("info: \(SignetFixture.invitation) for lightdm (alice)")
        try signet.touch(Touch.alice)
        try expectSession()
        #expect(!screen.output.contains("hidden:"))
        let decision = try host.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate"
        }
        #expect(decision["SIGNET_SERVICE"] == "lightdm")
        #expect(decision["SIGNET_TERMINAL"] == "")
    }

    /// Waits for the greeter to hear of the password's prompt, for the so-manieth time.
    private func expectPrompt(times: Int = 1) throws {
        try screen.expect("hidden: Password: ", times: times)
    }

    /// Gives the password at the prompt, with no touch asked for before.
    private func passByPassword() throws {
        try expectPrompt()
        #expect(!screen.output.contains(SignetFixture.invitation))
        try `do`("answer \(HostFixture.alice.password)")
        try expectSession()
    }

    @Test("others' fingers are refused, and then the password opens a session")
    func fingerThenPassword() throws {
        shows(.lightdm, .wrongFinger, .fingerThenPassword)
        try `do`("user alice")
        for (count, stranger) in [Touch.bob, Touch.nobody].enumerated() {
            try screen.expect("info: \(SignetFixture.invitation)", times: count + 1)
            try signet.touch(stranger)
            try screen.expect("the finger did not match", times: count + 1)
        }
        try expectPrompt()
        #expect(!screen.output.contains("authenticated:"))
        try `do`("answer \(HostFixture.alice.password)")
        try expectSession()
    }

    @Test("the password opens a session when the finger's time is over; a wrong one is refused")
    func password() throws {
        shows(.lightdm, .password, .wrongPassword)
        try signet.installStacks(options: "timeout=2")
        try `do`("user alice")
        try screen.expect("error: no fingerprint was read in time")
        try expectPrompt()
        try `do`("answer \(HostFixture.bob.password)")
        // PAM_AUTH_ERR, as pam_unix has it.
        try screen.expect("authenticated: 7")
        try `do`("start")
        try screen.expect("result: 1")
        #expect(!screen.output.contains("session of"))

        try `do`("user alice")
        try screen.expect("error: no fingerprint was read in time", times: 2)
        try expectPrompt(times: 2)
        try `do`("answer \(HostFixture.alice.password)")
        try expectSession()
    }

    @Test("the request for a touch is cancelled when another name is chosen")
    func cancelled() throws {
        shows(.lightdm, .cancelled)
        try `do`("user alice")
        try screen.expect("info: \(SignetFixture.invitation) for lightdm (alice")
        try `do`("cancel")
        try signet.expectDenial("cancelled")
        try `do`("user bob")
        try screen.expect("info: \(SignetFixture.invitation) for lightdm (bob")
        try signet.touch(Touch.bob)
        try screen.expect("authenticated: 0")
    }

    @Test("without a reader the password is asked for")
    func noReader() throws {
        shows(.lightdm, .noReader)
        try signet.stop()
        try signet.start(readers: [])
        try `do`("user alice")
        try passByPassword()
    }

    @Test("without a finger enrolled the password is asked for")
    func notEnrolled() throws {
        shows(.lightdm, .notEnrolled)
        try signet.ask(.delete(account: "alice", finger: nil))
        try `do`("user alice")
        try passByPassword()
    }

    @Test("locked out, the password is asked for, and lifts it")
    func lockedOut() throws {
        shows(.lightdm, .lockedOut)
        try signet.setFailures(20, of: HostFixture.alice)
        try `do`("user alice")
        try screen.expect("fingerprint login is locked for alice")
        try passByPassword()
        #expect(try signet.status(HostFixture.alice).lock == .open)
    }

    @Test(
        "without a daemon, or with one that stands still, the password is asked for",
        arguments: [false, true])
    func noDaemon(isSilent: Bool) throws {
        shows(.lightdm, isSilent ? .daemonSilent : .daemonDown)
        if isSilent { signet.suspend() } else { try signet.stop() }
        try `do`("user alice")
        try screen.expect("error: the fingerprint service does not answer: use the password")
        try passByPassword()
        signet.resume()
    }

    @Test(
        "with pam/examples/lightdm the password is asked for first, and Enter leads to the reader",
        arguments: [false, true])
    func passwordFirst(isTouch: Bool) throws {
        shows(.lightdm, isTouch ? .finger : .password)
        let example = String(
            decoding: try Layout.read("\(Layout.package)/pam/examples/lightdm"), as: UTF8.self)
        try host.writeService(
            "lightdm", example + "@include common-account\n@include common-session\n")
        try `do`("user alice")
        try expectPrompt()
        #expect(!screen.output.contains(SignetFixture.invitation))
        if isTouch {
            try `do`("answer ")
            try screen.expect("info: \(SignetFixture.invitation) for lightdm (alice")
            try signet.touch(Touch.alice)
        } else {
            try `do`("answer \(HostFixture.alice.password)")
        }
        try expectSession()
    }

    /// Has lightdm take pam/examples/lightdm-finger, with other words behind the module if so said.
    private func putFingerFirst(_ options: String = "delay=500") throws {
        let example = String(
            decoding: try Layout.read("\(Layout.package)/pam/examples/lightdm-finger"),
            as: UTF8.self)
        #expect(example.contains("pam_signet.so timeout=10 delay=500 keyring\n"))
        try host.writeService(
            "lightdm",
            example.replacing("delay=500", with: options)
                + "@include common-account\n@include common-session\n")
    }

    @Test("with pam/examples/lightdm-finger the reader is asked half a second after the name")
    func fingerFirst() throws {
        shows(.lightdm, .finger)
        try putFingerFirst()
        let begun = ContinuousClock.now
        try `do`("user alice")
        try screen.expect("info: \(SignetFixture.invitation) for lightdm (alice")
        #expect(ContinuousClock.now - begun >= .milliseconds(500))
        try signet.touch(Touch.alice)
        try expectSession()
        #expect(!screen.output.contains("hidden:"))
    }

    @Test("a name that is passed over meanwhile has asked for nothing, and the next one is asked")
    func passedOver() throws {
        shows(.lightdm, .cancelled)
        try putFingerFirst("delay=5000 debug")
        let begun = ContinuousClock.now
        try `do`("user alice")
        try host.journal.expect("the module at work") { $0.message.contains("signet-module") }
        try `do`("cancel")
        try manager.expectLogged("Terminated with signal 15")
        #expect(ContinuousClock.now - begun < .seconds(4))
        try putFingerFirst()
        try `do`("user bob")
        try screen.expect("info: \(SignetFixture.invitation) for lightdm (bob")
        try signet.touch(Touch.bob)
        try screen.expect("authenticated: 0")
        #expect(!screen.output.contains("(alice"))
        #expect(
            !host.journal.entries.contains {
                $0["SIGNET_VERB"] == "authenticate" && $0["SIGNET_ACCOUNT"] == "alice"
            })
    }
}
