import Glibc
import TestSupport
import Testing
import Wire

/// Real polkitd on a private bus, its setuid helper, and its agent for terminals.
@Suite("polkit", .timeLimit(.minutes(5)), .notingCells)
struct PolkitTests {
    private let signet: SignetStage
    private var stage: Stage { signet.stage }
    private let bus: TestSupport.Program
    private let authority: TestSupport.Program

    init() throws {
        signet = try SignetStage.debian(options: "max-tries=2", allowsOthers: true)
        let stage = signet.stage
        try signet.addSystemAccounts("messagebus", "polkitd")
        bus = try signet.startBus()
        // Who may confirm for root: alice alone.
        try stage.write(
            "/etc/polkit-1/rules.d/10-stage.rules",
            "polkit.addAdminRule(function() { return ['unix-user:alice']; });\n")
        try signet.shell("chown -R polkitd /etc/polkit-1/rules.d")
        authority = try stage.start(["/usr/lib/polkit-1/polkitd", "--replace"])
        try signet.shell(
            """
            until dbus-send --system --print-reply --dest=org.freedesktop.DBus / \
                org.freedesktop.DBus.NameHasOwner string:org.freedesktop.PolicyKit1 \
                | grep -q 'boolean true'; do :; done
            """)
    }

    /// pkexec with pkttyagent beside it, as systemctl starts one.
    ///
    /// The agent that pkexec brings along is refused by polkitd 122 whatever PAM says: it is root's,
    /// and the answer comes for alice. What is confirmed is confirmed for the shell.
    private func pkexec() throws -> Terminal {
        let line = """
            mkfifo ready; pkttyagent --process $$ --notify-fd 3 3>ready &
            cat ready; pkexec --disable-internal-agent id -un; exit $?
            """
        return try stage.terminal(["sh", "-c", line], as: Stage.alice)
    }

    /// Types at the agent's prompt, which shows and discards what comes before it is hidden.
    private func type(_ password: String, on terminal: Terminal) throws {
        try terminal.expect("Password: ")
        let deadline = ContinuousClock.now + .seconds(10)
        // Nothing tells of a terminal's settings.
        while try terminal.mode().echoes && ContinuousClock.now < deadline { usleep(1_000) }
        try terminal.sendLine(password)
    }

    private func expectWelcome(_ terminal: Terminal) throws {
        try terminal.expect("AUTHENTICATION COMPLETE")
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains(Stage.alice.password))
    }

    private func expectRefusal(_ terminal: Terminal) throws {
        try terminal.expect("AUTHENTICATION FAILED")
        try terminal.expect("Not authorized")
        #expect(try terminal.expectEnd() == .exited(127))
        #expect(!terminal.transcript.contains("root\r\n"))
    }

    /// Gives the right password at the agent's prompt, with no touch asked for before.
    private func passByPassword(_ terminal: Terminal) throws {
        try type(Stage.alice.password, on: terminal)
        #expect(!terminal.transcript.contains(SignetStage.invitation))
        try expectWelcome(terminal)
    }

    @Test("a touch lets pkexec in")
    func finger() throws {
        shows(.pkexec, .finger, .restored)
        let terminal = try pkexec()
        try terminal.expect("AUTHENTICATING FOR org.freedesktop.policykit.exec")
        try terminal.expect("\(SignetStage.invitation) (alice)")
        try signet.touch(Touch.alice)
        try expectWelcome(terminal)
        let mode = try terminal.mode()
        #expect(mode.echoes && mode.isCanonical && mode.makesSignals)
        let decision = try stage.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate"
        }
        #expect(decision["SIGNET_SERVICE"] == "polkit-1")
        #expect(decision["SIGNET_DECISION"] == "allow")
    }

    @Test("others' fingers are refused, and then the password lets in")
    func fingerThenPassword() throws {
        shows(.pkexec, .wrongFinger, .fingerThenPassword)
        let terminal = try pkexec()
        for stranger in [Touch.bob, Touch.nobody] {
            try terminal.expect(SignetStage.invitation)
            try signet.touch(stranger)
            try terminal.expect("the finger did not match")
        }
        try type(Stage.alice.password, on: terminal)
        try expectWelcome(terminal)
    }

    @Test("the password lets in when the finger's time is over")
    func password() throws {
        shows(.pkexec, .password)
        try signet.installStacks(options: "timeout=5")
        let terminal = try pkexec()
        try terminal.expect(SignetStage.invitation)
        try terminal.expect("the reader was not touched in time")
        try type(Stage.alice.password, on: terminal)
        try expectWelcome(terminal)
    }

    @Test("a wrong password is refused")
    func wrongPassword() throws {
        shows(.pkexec, .wrongPassword)
        try signet.installStacks(options: "timeout=5")
        let terminal = try pkexec()
        try terminal.expect("the reader was not touched in time")
        try type(Stage.bob.password, on: terminal)
        try expectRefusal(terminal)
    }

    @Test("^C ends it, the terminal is as it was, and no finger is awaited any more")
    func cancelled() throws {
        shows(.pkexec, .cancelled, .restored)
        let terminal = try pkexec()
        try terminal.expect(SignetStage.invitation)
        try terminal.control(.c)
        #expect(try terminal.expectEnd() != .exited(0))
        let mode = try terminal.mode()
        #expect(mode.echoes && mode.isCanonical && mode.makesSignals)
        try signet.expectDenial("cancelled")
    }

    @Test("without a reader the password is asked for")
    func noReader() throws {
        shows(.pkexec, .noReader)
        try signet.stop()
        try signet.start(readers: [])
        try passByPassword(pkexec())
    }

    @Test("without a finger enrolled the password is asked for")
    func notEnrolled() throws {
        shows(.pkexec, .notEnrolled)
        try signet.ask(.delete(account: Bytes("alice".utf8), finger: nil))
        try passByPassword(pkexec())
    }

    @Test("locked out, the password is asked for")
    func lockedOut() throws {
        shows(.pkexec, .lockedOut)
        try signet.setFailures(20, of: Stage.alice)
        let terminal = try pkexec()
        try terminal.expect("fingerprint login is locked for alice")
        try passByPassword(terminal)
    }

    @Test(
        "without a daemon, or with one that stands still, the password is asked for",
        arguments: [false, true])
    func noDaemon(isSilent: Bool) throws {
        shows(.pkexec, isSilent ? .daemonSilent : .daemonDown)
        if isSilent { signet.suspend() } else { try signet.stop() }
        let terminal = try pkexec()
        try terminal.expect("the fingerprint service does not answer: use the password")
        try passByPassword(terminal)
        signet.resume()
    }

    @Test("a su beside it waits, and is told for whom")
    func together() throws {
        shows(.pkexec, .together)
        let terminal = try pkexec()
        try terminal.expect(SignetStage.invitation)
        let other = try stage.terminal(["su", "bob"], as: Stage.alice)
        try other.expect("waiting: polkit-1 (alice) is being served first")
        try signet.touch(Touch.alice)
        try expectWelcome(terminal)
        try other.expectInvitation()
        try other.control(.c)
        try other.expectEnd()
    }
}
