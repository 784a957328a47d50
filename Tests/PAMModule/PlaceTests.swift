// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

@Suite("where and how a touch is asked for")
struct PlaceTests {
    /// sudo and su as Debian has them, with the finger in front of the password.
    private func fixture(_ options: String) throws -> ModuleFixture {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so \(options)")
        try fixture.writeServices(["sudo", "su"], options: options)
        return fixture
    }

    private func shell(_ fixture: ModuleFixture, _ line: String) throws -> Terminal {
        let terminal = try fixture.host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect("$ ")
        try terminal.sendLine(line)
        return terminal
    }

    private func begin(_ fixture: ModuleFixture) throws -> (Visit, AuthenticateRequest) {
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        try visit.send(.notice(Notice(.touch, scan: .press)))
        return (visit, request)
    }

    @Test("prompt=finger asks with a message alone, and reads nothing from the terminal")
    func finger() throws {
        let fixture = try fixture("prompt=finger")
        let terminal = try shell(fixture, "sudo echo in-side")
        let (visit, request) = try begin(fixture)
        #expect(request.presence == .foreground && request.background == .refuse)
        try terminal.expect("touch the reader to confirm: sudo echo in-side (alice")
        #expect(try terminal.mode().echoes)
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("in-side\r")
        #expect(!terminal.transcript.contains(PromptTests.or))
    }

    @Test("prompt=off shows nothing at all: not the touch, not a mismatch, not a denial")
    func off() throws {
        let fixture = try fixture("prompt=off")
        let terminal = try shell(fixture, "sudo echo in-side")
        let (visit, request) = try begin(fixture)
        try visit.send(.notice(Notice(.noMatch, triesLeft: 1)))
        try visit.prove(fixture.proof(for: request))
        let shown = try terminal.expect("in-side\r")
        #expect(!shown.contains("finger") && !shown.contains("reader"))
        #expect(!shown.contains(PromptTests.or))
        let probe = try fixture.start()
        let denied = try fixture.visit()
        _ = try denied.authenticate()
        try denied.send(.denial(Denial(.lockedUntilPassword)))
        #expect(try probe.lines().dropLast() == ["auth 9"])
    }

    /// What keeps a finger out for long, and how it is told.
    private static let lasting: [(DenialReason, String)] = [
        (.lidClosed, "the lid is closed. Open it to scan a finger, or use the password"),
        (.noReader, "no usable fingerprint reader was found: use the password"),
        (.remoteSession, "fingerprint login does not work in remote sessions: use the password"),
        (.otherSeat, "the fingerprint reader is at another seat: use the password"),
        (.notEnabled, "fingerprint login is off for alice. Run 'signet enable' to turn it on"),
        (.notServed, "fingerprint login is turned off for alice in signet.conf"),
    ]

    @Test("sudo at a terminal says in one line why it asks for no finger", arguments: lasting)
    func told(_ reason: DenialReason, _ text: String) throws {
        let fixture = try fixture("")
        let terminal = try shell(fixture, "sudo echo in-side")
        let visit = try fixture.visit()
        _ = try visit.authenticate()
        try visit.send(.denial(Denial(reason)))
        try terminal.expect(text)
        try terminal.expect("assword")
        // Without a user who sees it nothing is said.
        let probe = try fixture.start()
        let hidden = try fixture.visit()
        _ = try hidden.authenticate()
        try hidden.send(.denial(Denial(reason)))
        #expect(try probe.lines().dropLast() == ["auth 9"])
    }

    @Test(
        "sudo says nothing to a user without a finger, and nothing in a script without a terminal")
    func untold() throws {
        let fixture = try fixture("")
        let terminal = try shell(fixture, "sudo echo in-side")
        let visit = try fixture.visit()
        _ = try visit.authenticate()
        try visit.send(.denial(Denial(.notEnrolled)))
        let shown = try terminal.expect("assword")
        #expect(!shown.contains("finger"))
        let script = try shell(fixture, "setsid -w sudo -k id -un </dev/null; echo en\"d\"")
        if fixture.hasVisit {
            let hidden = try fixture.visit()
            _ = try hidden.authenticate()
            try hidden.send(.denial(Denial(.lidClosed)))
        }
        #expect(!(try script.expect("end").contains("the lid is closed")))
    }

    @Test("prompt=together asks where a password can be typed beside it")
    func together() throws {
        let fixture = try fixture("prompt=together")
        let terminal = try shell(fixture, "sudo echo in-side")
        let (visit, request) = try begin(fixture)
        try terminal.expect(PromptTests.or)
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("in-side\r")
    }

    @Test(
        "prompt=together asks nothing where none can be typed",
        arguments: [
            "sudo id -un </dev/null >/dev/null 2>&1 &", "su alice -c id </dev/null",
            "setsid -w sudo -k id -un",
        ])
    func notTogether(_ line: String) throws {
        let fixture = try fixture("prompt=together background=allow")
        #expect(try fixture.start().codes() == [ModuleFixture.Code.unavailable])
        let terminal = try shell(fixture, "\(line)\necho en\"d\"")
        try terminal.expect("end")
        #expect(!fixture.hasVisit)
        #expect(!terminal.transcript.contains("reader"))
    }

    @Test("in the background no user is asked, unless the line says so, and then with a warning")
    func background() throws {
        for (options, text) in [
            ("", nil), ("background=refuse", nil),
            ("background=warn", "a request from the background: touch the reader to confirm: sudo"),
            ("background=allow", "$ touch the reader to confirm: sudo"),
        ] as [(String, String?)] {
            let fixture = try fixture(options)
            let terminal = try shell(fixture, "sudo echo in-side &")
            guard let text else {
                try terminal.sendLine("sleep 0.3; jobs")
                try terminal.expect("Stopped")
                #expect(!fixture.hasVisit, "\(options)")
                continue
            }
            let (visit, request) = try begin(fixture)
            #expect(request.presence == .background)
            #expect(request.background == (options == "background=warn" ? .warn : .allow))
            try terminal.expect(text)
            #expect(!terminal.transcript.contains(PromptTests.or))
            try visit.prove(fixture.proof(for: request))
            try terminal.expect("in-side")
        }
    }

    @Test("in a pipe sudo is as much in the foreground as what it is piped to")
    func pipe() throws {
        let fixture = try fixture("")
        let terminal = try shell(fixture, "echo x | sudo cat | tr x y")
        let (visit, request) = try begin(fixture)
        #expect(request.presence == .foreground)
        try terminal.expect(PromptTests.or)
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("y\r")
    }

    @Test("a terminal that is named but is not the process's own is ignored")
    func lie() throws {
        let fixture = try fixture("")
        for tty in ["/dev/tty1", "/dev/null", "/etc/passwd", "/nonexistent", ":0", "../dev/tty"] {
            let terminal = try fixture.host.terminal(
                ["\(Layout.products)/PAMModuleProbe"], as: HostFixture.root,
                environment: [
                    "PROBE_SERVICE": "probe", "PROBE_USER": "alice", "PROBE_STEPS": "auth",
                    "PROBE_TTY": tty,
                ])
            let (visit, request) = try begin(fixture)
            #expect(request.presence == .noTerminal && request.background == .allow, "\(tty)")
            try visit.prove(fixture.proof(for: request))
            try terminal.expect("auth 0")
            #expect(!terminal.transcript.contains(PromptTests.or))
        }
    }

    @Test("the daemon learns of a missing terminal, and a warning says so if the line asks for it")
    func noTerminal() throws {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so background=refuse")
        let probe = try fixture.start()
        let (visit, request) = try begin(fixture)
        #expect(request.presence == .noTerminal && request.background == .refuse)
        try visit.send(.denial(Denial(.inBackground)))
        let lines = try probe.lines()
        #expect(!lines.contains { $0.hasPrefix("error") })

        let warning = try ModuleFixture(stack: "auth required pam_signet.so background=warn")
        let warned = try warning.start()
        let (second, secondRequest) = try begin(warning)
        try second.prove(warning.proof(for: secondRequest))
        #expect(
            try warned.lines().contains(
                "info a request without a terminal: touch the reader for probe (alice)"))
    }

    @Test("delay= asks so much later, and a login that ends before has asked nothing")
    func delay() throws {
        let fixture = try fixture("delay=400")
        let begin = ContinuousClock.now
        let probe = try fixture.start()
        let visit = try fixture.visit()
        #expect(ContinuousClock.now - begin >= .milliseconds(400))
        try visit.prove(fixture.proof(for: visit.authenticate()))
        #expect(try probe.codes() == [0])

        let long = try self.fixture("delay=5000")
        let killed = try long.start(["user?", "auth"])
        try killed.expect("user alice")
        killed.signal(SIGKILL)
        _ = try killed.expectEnd()
        #expect(!long.hasVisit)
    }

    @Test("delay= is passed over where the password is typed beside the touch")
    func delayAtTerminal() throws {
        let fixture = try fixture("delay=5000")
        let begin = ContinuousClock.now
        let terminal = try shell(fixture, "sudo echo in-side")
        let (visit, request) = try self.begin(fixture)
        try terminal.expect(PromptTests.or)
        #expect(ContinuousClock.now - begin < .seconds(4))
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("in-side\r")
    }

    @Test("what declines without the daemon does so without the delay")
    func declineBeforeDelay() throws {
        let fixture = try fixture("delay=5000")
        let begin = ContinuousClock.now
        let remote = try fixture.start(environment: ["PROBE_RHOST": "example.org"])
        #expect(try remote.codes() == [ModuleFixture.Code.unavailable])
        #expect(try fixture.start(account: "bob").codes() == [ModuleFixture.Code.unavailable])
        #expect(ContinuousClock.now - begin < .seconds(4))
    }
}
