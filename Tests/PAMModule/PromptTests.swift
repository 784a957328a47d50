// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

@Suite("password or finger at one prompt")
struct PromptTests {
    static let or = "or type the password: "

    /// sudo, su and login as Debian has them, with the finger in front of the password.
    private func fixture(options: String = "") throws -> ModuleFixture {
        let fixture = try ModuleFixture()
        try fixture.writeServices(["sudo", "su", "login"], options: options)
        return fixture
    }

    /// Answers the request with the prompt for a touch.
    private func begin(_ fixture: ModuleFixture) throws -> (Visit, AuthenticateRequest) {
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        try visit.send(.notice(Notice(.touch, scan: .press)))
        return (visit, request)
    }

    /// A shell of alice's with job control, and sudo begun on it.
    private func sudo(
        _ fixture: ModuleFixture, _ words: String = "sudo echo in-\\\\side"
    ) throws -> (Terminal, Visit, AuthenticateRequest) {
        let terminal = try fixture.host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect("$ ")
        try terminal.sendLine(words)
        let (visit, request) = try begin(fixture)
        try terminal.expect(Self.or)
        return (terminal, visit, request)
    }

    /// The shell is back, and the terminal is as it was.
    private func expectShell(_ terminal: Terminal) throws {
        try terminal.expect("$ ")
        try terminal.sendLine("echo sh\"el\"l-$((6 * 7))")
        try terminal.expect("shell-42")
        try terminal.sendLine("stty -a; stty_end=1")
        let settings = try terminal.expect("-extproc")
        #expect(settings.contains(" echo ") && settings.contains("icanon"))
    }

    @Test("a touch lets sudo in, and the request says what is confirmed")
    func touch() throws {
        let fixture = try fixture()
        let (terminal, visit, request) = try sudo(fixture, "sudo echo in-side")
        #expect(request.purpose == [UInt8]("sudo echo in-side".utf8))
        #expect(request.requester == "alice")
        #expect(request.terminal == [UInt8](terminal.path.utf8))
        #expect(
            terminal.transcript.contains("touch the reader to confirm: sudo echo in-side (alice"))
        #expect(try !terminal.mode().echoes)
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("in-side")
        try expectShell(terminal)
    }

    @Test("a typed password wins at once, and is asked for only once")
    func password() throws {
        let fixture = try fixture()
        let (terminal, visit, _) = try sudo(fixture, "sudo echo in-side")
        try terminal.sendLine(HostFixture.alice.password)
        let before = try terminal.expect("in-side")
        #expect(!before.contains("assword") && !before.contains(HostFixture.alice.password))
        #expect(try visit.hasEnded())
        // sudo sets credentials as root.
        let report = try fixture.visit().request().content as? PasswordAcceptedRequest
        #expect(report?.account == "alice")
        try expectShell(terminal)
    }

    @Test("a wrong password is rejected, and another attempt begins")
    func wrongPassword() throws {
        let fixture = try fixture()
        let (terminal, first, _) = try sudo(fixture, "sudo echo in-side")
        try terminal.sendLine("wrong")
        try terminal.expect("try again")
        #expect(try first.hasEnded())
        let (visit, request) = try begin(fixture)
        try terminal.expect(Self.or)
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("in-side")
    }

    @Test(
        "Enter alone, and what cannot be a password, lead to the next module's prompt",
        arguments: [
            "", String(repeating: "x", count: 1_100), "\u{0}x",
        ])
    func noPassword(_ typed: String) throws {
        let fixture = try fixture()
        let (terminal, visit, _) = try sudo(fixture, "sudo echo in-side")
        try terminal.sendLine(typed)
        try terminal.expect("[sudo] password for alice: ")
        // Until here the daemon was there: it is the typing that led on.
        #expect(try visit.hasEnded())
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("in-side")
    }

    @Test("a half-typed password never reaches the shell when the finger matches")
    func halfTyped() throws {
        let fixture = try fixture()
        let (terminal, visit, request) = try sudo(fixture, "sudo echo in-side")
        try terminal.send("half-secret")
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("in-side")
        try expectShell(terminal)
        #expect(!terminal.transcript.contains("half-secret"))
    }

    @Test("messages come on lines of their own, and the prompt stands again after them")
    func messages() throws {
        let fixture = try fixture()
        let (terminal, visit, request) = try sudo(fixture, "sudo echo in-side")
        try visit.send(.notice(Notice(.retry, retry: .tooShort)))
        #expect(try terminal.expect("the swipe was too short").hasSuffix("\r\n"))
        try terminal.expect(Self.or)
        try visit.send(.notice(Notice(.noMatch, triesLeft: 1)))
        try terminal.expect("one try left")
        try terminal.expect(Self.or)
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("in-side")
    }

    @Test("^C ends sudo without another prompt, and leaves the terminal as it was")
    func interrupted() throws {
        let fixture = try fixture()
        let (terminal, visit, _) = try sudo(fixture, "sudo echo in-side")
        try terminal.control(.c)
        #expect(try visit.hasEnded())
        try expectShell(terminal)
        #expect(!terminal.transcript.contains("assword for"))
    }

    @Test("^Z stops sudo with the terminal as it was; fg asks again, with a new challenge")
    func suspended() throws {
        let fixture = try fixture()
        let (terminal, visit, request) = try sudo(fixture, "sudo echo in-side")
        try terminal.send("half")
        try terminal.control(.z)
        try terminal.expect("Stopped")
        #expect(try visit.hasEnded())
        try expectShell(terminal)
        try terminal.sendLine("fg")
        let (again, secondRequest) = try begin(fixture)
        #expect(secondRequest.challenge != request.challenge)
        try terminal.expect(Self.or)
        try again.prove(fixture.proof(for: secondRequest))
        try terminal.expect("in-side")
        try expectShell(terminal)
    }

    @Test("a stopped sudo that continues in the background takes no touch")
    func background() throws {
        let fixture = try fixture()
        let (terminal, visit, _) = try sudo(fixture, "sudo echo in-side")
        try terminal.control(.z)
        try terminal.expect("Stopped")
        #expect(try visit.hasEnded())
        try terminal.sendLine("bg; wait; jobs")
        try terminal.expect("Stopped")
        #expect(!fixture.hasVisit)
        try terminal.sendLine("kill -9 %1; wait; sudo echo in-side &")
        try terminal.sendLine("wait; jobs")
        try terminal.expect("Stopped")
        #expect(!fixture.hasVisit)
    }

    @Test(
        "when the time is up, or the reader is missing, the password prompt follows",
        arguments: [
            "time", "reader", "daemon",
        ])
    func followed(_ end: String) throws {
        let fixture = try fixture(options: end == "time" ? "timeout=5" : "")
        var (terminal, visit, _): (Terminal, Visit?, AuthenticateRequest) = try sudo(
            fixture, "sudo echo in-side")
        try terminal.send("half-secret")
        if end == "reader" { try visit?.send(.denial(Denial(.readerRemoved))) }
        if end == "daemon" { visit = nil }
        try terminal.expect("password for alice")
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("in-side")
        if end == "time" { #expect(try visit?.hasEnded() == true) }
        try expectShell(terminal)
    }

    @Test(
        "a signal that ends the process finds the terminal restored",
        arguments: [
            SIGTERM, SIGHUP, SIGQUIT,
        ])
    func killed(_ signal: Int32) throws {
        let fixture = try fixture()
        let terminal = try fixture.host.terminal(["bash", "-i"], as: HostFixture.bob)
        try terminal.expect("$ ")
        try terminal.sendLine("su alice -c 'echo in-side'")
        let (visit, _) = try begin(fixture)
        try terminal.expect(Self.or)
        try terminal.send("half-secret")
        for process in fixture.host.processes(named: "su") { kill(process, signal) }
        #expect(try visit.hasEnded())
        try expectShell(terminal)
        #expect(!terminal.transcript.contains("half-secret"))
    }

    @Test("the end of the terminal ends the wait")
    func hangUp() throws {
        let fixture = try fixture()
        let (terminal, visit, _) = try sudo(fixture, "sudo echo in-side")
        terminal.hangUp()
        #expect(try visit.hasEnded())
        try terminal.expectEnd()
    }

    @Test(
        "with -n, -S and -A sudo is left alone",
        arguments: [
            "sudo -n echo in-side", "echo x | sudo -S echo in-side",
        ])
    func leftAlone(_ words: String) throws {
        let fixture = try fixture()
        let terminal = try fixture.host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect("$ ")
        try terminal.sendLine("\(words); echo don\"e\"")
        try terminal.expect("done")
        #expect(!fixture.hasVisit)
        #expect(!terminal.transcript.contains("type the password"))
    }

    @Test(
        "su accepts a touch or the password, and ^C ends it",
        arguments: ["touch", "password", "^C"])
    func su(_ way: String) throws {
        let fixture = try fixture()
        let terminal = try fixture.host.terminal(["bash", "-i"], as: HostFixture.bob)
        try terminal.expect("$ ")
        try terminal.sendLine("su alice -c 'echo in-side'")
        let (visit, request) = try begin(fixture)
        try terminal.expect(Self.or)
        #expect(request.purpose == [UInt8]("su alice -c 'echo in-side'".utf8))
        #expect(request.requester == "bob")
        switch way {
        case "touch": try visit.prove(fixture.proof(for: request))
        case "password": try terminal.sendLine(HostFixture.alice.password)
        default: try terminal.control(.c)
        }
        if way != "^C" { try terminal.expect("in-side\r") }
        try expectShell(terminal)
    }

    @Test("login accepts a touch or the password", arguments: ["touch", "password"])
    func login(_ way: String) throws {
        let fixture = try fixture()
        let terminal = try fixture.host.terminal(["login", "alice"], as: HostFixture.root)
        let (visit, request) = try begin(fixture)
        try terminal.expect(Self.or)
        if way == "password" {
            try terminal.sendLine(HostFixture.alice.password)
        } else {
            try visit.prove(fixture.proof(for: request))
        }
        try terminal.expect("alice@linux")
        try expectShell(terminal)
    }

    @Test("^C ends login")
    func interruptedLogin() throws {
        let fixture = try fixture()
        let terminal = try fixture.host.terminal(["login", "alice"], as: HostFixture.root)
        let (visit, _) = try begin(fixture)
        try terminal.expect(Self.or)
        try terminal.control(.c)
        #expect(try visit.hasEnded())
        try terminal.expectEnd()
    }

    @Test("if the application ignores ^C, the prompt continues")
    func ignoredInterrupt() throws {
        let fixture = try fixture()
        let terminal = try fixture.host.terminal(["bash", "-i"], as: HostFixture.bob)
        try terminal.expect("$ ")
        try terminal.sendLine("(trap '' INT; exec su alice -c 'echo in-side')")
        let (visit, request) = try begin(fixture)
        try terminal.expect(Self.or)
        try terminal.control(.c)
        try visit.send(.notice(Notice(.retry, retry: .tooFast)))
        try terminal.expect("moved too fast")
        try terminal.expect(Self.or)
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("in-side\r")
        try expectShell(terminal)
    }

    @Test("without a terminal, or with another's, a program for terminals is asked for no touch")
    func noTerminal() throws {
        let fixture = try fixture()
        for environment in [[:], ["PROBE_TTY": "/dev/tty1"]] {
            let probe = try fixture.start(
                service: "sudo", arguments: ["ls", "-n"], environment: environment)
            let lines = try probe.lines()
            #expect(lines.first == "error \(Self.unseen)")
            #expect(lines.contains { $0.hasPrefix("prompt ") })
            #expect(!fixture.hasVisit)
        }
    }

    private static let unseen =
        "a fingerprint cannot be asked for here, because the request cannot be shown: use the password"

    @Test(
        "su's question is on its terminal wherever its output goes, and nothing of it in a file",
        arguments: [">f", "2>f", "<f", ">f 2>&1", "<f >f", "<f >f 2>&1"])
    func redirected(to streams: String) throws {
        let fixture = try fixture()
        let terminal = try fixture.host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect("$ ")
        try terminal.sendLine(
            "cd /tmp; : >f; su alice -c 'echo in-side; echo da''ta >&2' \(streams); "
                + "echo en\"d\" $?")
        let (visit, request) = try begin(fixture)
        try terminal.expect(
            "touch the reader to confirm: su alice -c 'echo in-side; echo data >&2'")
        try visit.send(.notice(Notice(.retry, retry: .tooFast)))
        try terminal.expect("the finger moved too fast")
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("end 0")
        let file = String(decoding: try fixture.host.read("/tmp/f"), as: UTF8.self)
        #expect(!file.contains("reader") && !file.contains("finger") && !file.contains("password"))
        #expect(file.contains("in-side") == streams.contains(">f") || streams == "2>f")
    }

    @Test("a denial, too, is told on the terminal and not in a file")
    func redirectedDenial() throws {
        let fixture = try fixture()
        let terminal = try fixture.host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect("$ ")
        try terminal.sendLine("su alice -c 'echo in-side' >/tmp/f 2>&1")
        let visit = try fixture.visit()
        _ = try visit.authenticate()
        try visit.send(.denial(Denial(.lockedUntilPassword)))
        try terminal.expect("fingerprint login is locked for alice")
        terminal.hangUp()
        let file = String(decoding: try fixture.host.read("/tmp/f"), as: UTF8.self)
        #expect(!file.contains("locked"))
    }

    @Test("su without any terminal, whose output nobody need read, gets no touch")
    func unseen() throws {
        let fixture = try fixture()
        let outcome = try fixture.host.run(
            ["su", "alice", "-c", "echo in-side"], as: HostFixture.bob)
        #expect(!outcome.succeeded && !outcome.output.contains("reader"))
        #expect(outcome.errors.contains(Self.unseen))
        #expect(!fixture.hasVisit)
    }

    @Test("a program that wants no messages, or takes none, gets no touch")
    func silent() throws {
        let fixture = try fixture()
        let probe = try fixture.start(environment: ["PROBE_SILENT": "1"])
        #expect(try probe.lines().first == "auth \(ModuleFixture.Code.unavailable)")
        #expect(!fixture.hasVisit)
    }

    @Test("a terminal that takes nothing, as after ^S, gets no touch")
    func stoppedOutput() throws {
        let fixture = try fixture()
        let terminal = try fixture.host.terminal(["bash", "-i"], as: HostFixture.alice)
        try terminal.expect("$ ")
        try terminal.sendLine("sudo echo in-side")
        let visit = try fixture.visit()
        _ = try visit.authenticate()
        try terminal.stopOutput()
        try visit.send(.notice(Notice(.touch, scan: .press)))
        // The module has hung up before anything could be confirmed.
        #expect(try visit.hasEnded())
        try terminal.send("\u{11}")
        try terminal.expect("password for alice: ")
        #expect(!terminal.transcript.contains("in-side\r\nin-side"))
    }

    @Test("the prompt of a program without a command names its service, and a terminal of its own")
    func service() throws {
        let fixture = try fixture()
        func probe(_ tty: String) throws -> Terminal {
            try fixture.host.terminal(
                ["sh", "-c", "PROBE_TTY=\(tty) exec \(Layout.products)/PAMModuleProbe"],
                as: HostFixture.alice,
                environment: [
                    "PROBE_SERVICE": "login", "PROBE_USER": "alice", "PROBE_STEPS": "auth",
                ])
        }
        let own = try probe("$(tty)")
        let (visit, request) = try begin(fixture)
        let name = own.path.dropFirst("/dev/".count)
        #expect(request.terminal == [UInt8](own.path.utf8))
        try own.expect("touch the reader for login (alice, \(name))")
        try visit.prove(fixture.proof(for: request))
        try own.expect("auth 0")
        // A name that leads to the terminal by a link of the user's is none of the terminal's.
        for tty in ["/dev/pts/9", "/dev/tty", "tty1", "/dev/shm/pts", "shm/tty1", "/tmp/tty1"] {
            let link = try fixture.host.terminal(
                [
                    "sh", "-c",
                    "ln -sf $(tty) /dev/shm/pts; ln -sf $(tty) /dev/shm/tty1; "
                        + "ln -sf $(tty) /tmp/tty1; PROBE_TTY=\(tty) "
                        + "exec \(Layout.products)/PAMModuleProbe",
                ], as: HostFixture.alice,
                environment: [
                    "PROBE_SERVICE": "login", "PROBE_USER": "alice", "PROBE_STEPS": "auth",
                ])
            let (visit, request) = try begin(fixture)
            #expect(request.terminal.isEmpty, "\(tty)")
            try link.expect("touch the reader for login (alice)")
            try visit.prove(fixture.proof(for: request))
            try link.expect("auth 0")
        }
    }

    @Test("after a miss the password is asked for once, below the next question")
    func once() throws {
        let fixture = try fixture()
        let (terminal, visit, request) = try sudo(fixture, "sudo echo in-side")
        try visit.send(.notice(Notice(.noMatch, triesLeft: 2)))
        try visit.send(.notice(Notice(.touch, scan: .press)))
        try terminal.expect("2 tries left")
        let between = try terminal.expect(Self.or)
        #expect(between.contains("touch the reader to confirm"))
        // A scan that is followed by no question is still followed by the line.
        try visit.send(.notice(Notice(.retry, retry: .tooFast)))
        try terminal.expect("the finger moved too fast")
        try terminal.expect(Self.or)
        try visit.prove(fixture.proof(for: request))
        try terminal.expect("in-side\r")
        try expectShell(terminal)
    }
}
