// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Real polkitd on a private bus, its setuid helper, and its agent for terminals.
@Suite("polkit", .timeLimit(.minutes(5)), .notingCells)
struct PolkitTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let running: [TestSupport.Program]

    init() throws {
        signet = try SignetFixture.debian(options: "max-tries=2", allowsOthers: true)
        running = try signet.startPolkit()
    }

    private func expectWelcome(_ terminal: Terminal) throws {
        try terminal.expect("AUTHENTICATION COMPLETE")
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains(HostFixture.alice.password))
    }

    private func expectRefusal(_ terminal: Terminal) throws {
        try terminal.expect("AUTHENTICATION FAILED")
        try terminal.expect("Not authorized")
        #expect(try terminal.expectEnd() == .exited(127))
        #expect(!terminal.transcript.contains("root\r\n"))
    }

    /// Gives the right password at the agent's prompt, with no touch asked for before.
    private func passByPassword(_ terminal: Terminal) throws {
        try terminal.typeAtAgent(HostFixture.alice.password)
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try expectWelcome(terminal)
    }

    @Test("a touch lets pkexec in")
    func finger() throws {
        shows(.pkexec, .finger, .restored)
        let terminal = try signet.pkexec()
        try terminal.expect("AUTHENTICATING FOR org.freedesktop.policykit.exec")
        try terminal.expect("\(SignetFixture.invitation) for polkit-1 (alice)")
        try signet.touch(Touch.alice)
        try expectWelcome(terminal)
        let mode = try terminal.mode()
        #expect(mode.echoes && mode.isCanonical && mode.makesSignals)
        let decision = try host.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate"
        }
        #expect(decision["SIGNET_SERVICE"] == "polkit-1")
        #expect(decision["SIGNET_DECISION"] == "allow")
    }

    @Test("others' fingers are refused, and then the password is accepted")
    func fingerThenPassword() throws {
        shows(.pkexec, .wrongFinger, .fingerThenPassword)
        let terminal = try signet.pkexec()
        for stranger in [Touch.bob, Touch.nobody] {
            try terminal.expect(SignetFixture.invitation)
            try signet.touch(stranger)
            try terminal.expect("the finger did not match")
        }
        try terminal.typeAtAgent(HostFixture.alice.password)
        try expectWelcome(terminal)
    }

    @Test("the password is accepted when the time for the finger is over")
    func password() throws {
        shows(.pkexec, .password)
        try signet.installStacks(options: "timeout=5")
        let terminal = try signet.pkexec()
        try terminal.expect(SignetFixture.invitation)
        try terminal.expect("no fingerprint was read in time")
        try terminal.typeAtAgent(HostFixture.alice.password)
        try expectWelcome(terminal)
    }

    @Test("a wrong password is refused")
    func wrongPassword() throws {
        shows(.pkexec, .wrongPassword)
        try signet.installStacks(options: "timeout=5")
        let terminal = try signet.pkexec()
        try terminal.expect("no fingerprint was read in time")
        try terminal.typeAtAgent(HostFixture.bob.password)
        try expectRefusal(terminal)
    }

    @Test("^C ends it, restores the terminal, and cancels the request for a finger")
    func cancelled() throws {
        shows(.pkexec, .cancelled, .restored)
        let terminal = try signet.pkexec()
        try terminal.expect(SignetFixture.invitation)
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
        try passByPassword(signet.pkexec())
    }

    @Test("without a finger enrolled the password is asked for")
    func notEnrolled() throws {
        shows(.pkexec, .notEnrolled)
        try signet.ask(.delete(account: "alice", finger: nil))
        try passByPassword(signet.pkexec())
    }

    @Test("locked out, the password is asked for")
    func lockedOut() throws {
        shows(.pkexec, .lockedOut)
        try signet.setFailures(20, of: HostFixture.alice)
        let terminal = try signet.pkexec()
        try terminal.expect("fingerprint login is locked for alice")
        try passByPassword(terminal)
    }

    @Test(
        "without a daemon, or with one that stands still, the password is asked for",
        arguments: [false, true])
    func noDaemon(isSilent: Bool) throws {
        shows(.pkexec, isSilent ? .daemonSilent : .daemonDown)
        if isSilent { signet.suspend() } else { try signet.stop() }
        let terminal = try signet.pkexec()
        try terminal.expect("the fingerprint service does not answer: use the password")
        try passByPassword(terminal)
        signet.resume()
    }

    @Test("a su beside it waits, and shows for whom")
    func together() throws {
        shows(.pkexec, .together)
        let terminal = try signet.pkexec()
        try terminal.expect(SignetFixture.invitation)
        let other = try host.terminal(["su", "bob"], as: HostFixture.alice)
        try other.expect("waiting: polkit-1 (alice, pts/")
        try other.expect(") is using the reader")
        try signet.touch(Touch.alice)
        try expectWelcome(terminal)
        try other.expectInvitation()
        try other.control(.c)
        try other.expectEnd()
    }

    // MARK: Whose agent it is

    @Test("an agent in a remote session gets no touch, and the password is accepted")
    func remoteAgent() throws {
        let terminal = try signet.pkexec(in: .remoteSession(of: HostFixture.alice))
        try passByPassword(terminal)
        try signet.expectDenial("remoteSession")
    }

    @Test("an agent that dies while a finger is awaited gets nothing by the touch")
    func agentDies() throws {
        let terminal = try signet.pkexec(then: "echo en\"\"ded; exec cat")
        try terminal.expect(SignetFixture.invitation)
        try host.kill(named: "pkttyagent")
        try terminal.expect("ended")
        try signet.touch(Touch.alice)
        try signet.expectAlert("the proof is no longer valid")
        #expect(!terminal.transcript.contains("root\r\n"))
        terminal.hangUp()
    }

    @Test("a helper of an unknown agent gets no touch")
    func unknownAgent() throws {
        // Its parent has gone, and its present parent has not started it.
        let program = try host.start(
            ["sh", "-c", "{ echo 1; exec sleep 100; } | setsid -f \(Self.helper) alice"],
            as: HostFixture.alice)
        try program.expect("PAM_PROMPT_ECHO_OFF Password: ")
        #expect(!program.output.contains(SignetFixture.invitation))
        try signet.expectDenial("notAtMachine")
        program.signal(SIGKILL)
    }

    // MARK: A helper that systemd starts, as polkit has it from 127 on

    private static let helper = "/usr/lib/polkit-1/polkit-agent-helper-1"
    private static let unit = FixturePlace.unit("polkit-agent-helper@1-9-4242.service")

    /// Debian's helper with the socket of an agent's as its standard input, and that agent.
    private func agent(
        in place: FixturePlace? = nil
    ) throws -> (agent: TestSupport.Program, helper: TestSupport.Program) {
        let start = """
            use Socket; $| = 1;
            socket(my $door, AF_UNIX, SOCK_STREAM, 0) or die;
            bind($door, pack_sockaddr_un("/run/helper")) && chmod(0666, "/run/helper") or die;
            listen($door, 1) or die; print "ready\\n";
            accept(my $peer, $door) or die;
            open STDIN, "<&", $peer; open STDOUT, ">&", $peer;
            exec $ARGV[0], "alice";
            """
        let helper = try host.start(["perl", "-e", start, Self.helper], in: Self.unit)
        try helper.expect("ready\n")
        let ask = """
            use Socket; $| = 1;
            socket(my $helper, AF_UNIX, SOCK_STREAM, 0) or die;
            connect($helper, pack_sockaddr_un("/run/helper")) or die;
            syswrite $helper, "1\\n"; print while <$helper>;
            """
        return (try host.start(["perl", "-e", ask], as: HostFixture.alice, in: place), helper)
    }

    @Test("an agent in front of the machine gets the touch")
    func localSocket() throws {
        let (agent, helper) = try agent()
        try agent.expect("PAM_TEXT_INFO \(SignetFixture.invitation)")
        try signet.touch(Touch.alice)
        try host.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate" && $0["SIGNET_DECISION"] == "allow"
        }
        // Whatever polkit says of the agent's cookie, which is made up.
        try helper.expectEnd()
        #expect(!agent.output.contains("PAM_PROMPT"))
    }

    @Test(
        "an agent that is remote, or in no session, gets none",
        arguments: [
            (FixturePlace.remoteSession(of: HostFixture.alice), "remoteSession"),
            (.unit("cron.service"), "notAtMachine"),
        ])
    func refusedSocket(_ place: FixturePlace, _ reason: String) throws {
        let (agent, helper) = try agent(in: place)
        try agent.expect("PAM_PROMPT_ECHO_OFF Password: ")
        #expect(!agent.output.contains(SignetFixture.invitation))
        try signet.expectDenial(reason)
        helper.signal(SIGKILL)
    }

    @Test("an agent that dies while a finger is awaited gets nothing by the touch there either")
    func diesBehindSocket() throws {
        let (agent, helper) = try agent()
        try agent.expect("PAM_TEXT_INFO \(SignetFixture.invitation)")
        agent.signal(SIGKILL)
        try agent.expectEnd()
        try signet.touch(Touch.alice)
        try signet.expectAlert("the proof is no longer valid")
        helper.signal(SIGKILL)
    }
}
