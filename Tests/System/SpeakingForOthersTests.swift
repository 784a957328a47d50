// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Programs in alice's own session that show a terminal, or speak to PAM, for a user elsewhere.
@Suite("a program that speaks for somebody else", .timeLimit(.minutes(5)))
struct SpeakingForOthersTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws { signet = try SignetFixture.debian() }

    private static let sudo = ["sudo", "-k", "id", "-un"]

    private func expectServed(_ terminal: Terminal, showing name: String = "root") throws {
        try terminal.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try terminal.expect(name)
    }

    /// Expects that the password is asked for at once, and works.
    private func expectPassword(_ terminal: Terminal, because reason: String) throws {
        try terminal.expect(reason)
        try terminal.expect("password for alice: ")
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root")
        try signet.expectDenial("notAtMachine")
    }

    // MARK: Terminals

    @Test(
        "and has made the terminal itself gets no touch, in the session as under the user's manager",
        arguments: ["ttyd", "sshd", "jupyter-lab", "systemd", "python3"])
    func holders(_ name: String) throws {
        for place in [
            FixturePlace.session(of: HostFixture.alice), .manager(of: HostFixture.alice),
        ] {
            let terminal = try host.terminal(
                Self.sudo, as: HostFixture.alice, in: place, heldBy: name)
            try expectPassword(
                terminal,
                because:
                    "the program behind this terminal is not a known terminal emulator: \(name)")
        }
    }

    @Test("is named by the administrator as a terminal emulator: its terminals get a touch")
    func listed() throws {
        try host.write("/etc/signet/signet.conf", "[login]\nterminals = my-terminal\n")
        try signet.stop()
        try signet.start()
        let terminal = try host.terminal(
            Self.sudo, as: HostFixture.alice, heldBy: "my-terminal")
        try expectServed(terminal)
    }

    @Test("real: Python's pty, script and sudo's own inside a terminal emulator")
    func nested() throws {
        let python = try host.terminal(
            ["python3", "-c", "import pty; pty.spawn(['sudo', '-k', 'id', '-un'])"],
            as: HostFixture.alice)
        try expectPassword(
            python, because: "the program behind this terminal is not a known terminal")
        let script = try host.terminal(
            ["script", "-qec", "sudo -k id -un", "/dev/null"], as: HostFixture.alice)
        try expectServed(script)
        #expect(try script.expectEnd() == .exited(0))
    }

    @Test("real: an sshd of alice's own, in her session")
    func ownServer() throws {
        try signet.shell(
            """
            install -d -o alice -g alice -m 700 /home/alice/.ssh /home/alice/sshd
            cd /home/alice/sshd
            ssh-keygen -q -t ed25519 -N '' -f host
            ssh-keygen -q -t ed25519 -N '' -f ../.ssh/id
            cp ../.ssh/id.pub ../.ssh/authorized_keys
            echo "h $(cut -d' ' -f1,2 host.pub)" >../.ssh/known_hosts
            printf 'HostKey %s\\nUsePAM no\\nPidFile none\\nStrictModes no\\n' "$PWD/host" >conf
            chown -R alice:alice . ../.ssh
            """)
        // A server that is not root's cannot give the fixture's terminals away; script(1) makes one.
        let terminal = try host.terminal(
            [
                "ssh", "-q", "-i", "/home/alice/.ssh/id", "-o",
                "ProxyCommand=/usr/sbin/sshd -i -f /home/alice/sshd/conf", "h",
                "script -qec 'sudo -k id -un' /dev/null",
            ], as: HostFixture.alice)
        try expectPassword(
            terminal, because: "the program behind this terminal is not a known terminal")
    }

    @Test("real: tmux, which a session elsewhere attaches to")
    func multiplexer() throws {
        let local = try host.terminal(
            ["tmux", "-f", "/dev/null", "new-session", "-s", "s", "bash --norc -i"],
            as: HostFixture.alice, environment: ["TERM": "xterm"])
        try local.expect("bash")
        try local.sendLine("clear; sudo -k id -un")
        try expectServed(local)
        // She leaves the machine, and comes back by ssh. Her session is still in front.
        let remote = try host.terminal(
            ["tmux", "attach-session", "-t", "s"], as: HostFixture.alice,
            in: .remoteSession(of: HostFixture.alice), heldBy: "sshd",
            environment: ["TERM": "xterm"])
        try remote.expect("bash")
        try remote.sendLine("sudo -k whoami")
        try remote.expect("password for alice")
        let entry = try signet.expectDenial("notAtMachine")
        #expect(entry["SIGNET_ACCOUNT"] == "alice")
        #expect(!remote.transcript.contains("to confirm: sudo whoami"))
        // No ^C: sudo misses one that comes between its prompt and its wait for the answer.
        try remote.sendLine(HostFixture.alice.password)
        try remote.expect("root")
        try remote.expect("bash")
        remote.hangUp()
        try remote.expectEnd()
        // And then there is nobody elsewhere.
        try local.sendLine("clear; sudo -k id -un | tr a-z A-Z")
        try expectServed(local, showing: "ROOT")
    }

    @Test("real: xterm on the screen of the session gets a touch")
    func emulator() throws {
        let screen = try Screen(on: signet)
        let xterm = try host.start(
            ["xterm", "-T", "xterm", "-e", "sudo -k id -un >/tmp/who; cat /tmp/who"],
            as: HostFixture.alice,
            environment: Screen.environment)
        try screen.expectWindow("xterm")
        signet.touchBlindly(Touch.alice) { xterm.ended != nil }
        #expect(try xterm.expectEnd().ending == .exited(0))
        #expect(try host.read("/tmp/who") == Array("root\n".utf8))
    }

    // MARK: Services

    @Test(
        "real: a VNC server's viewer gets in by no touch of alice's, also not by that for her sudo")
    func viewer() throws {
        try host.writeService(
            "tigervnc", "@include common-auth\n@include common-account\n")
        let screen = try Screen(on: signet)
        _ = screen
        try signet.shell("install -d -o alice -g alice -m 700 /run/vnc")
        let server = try host.start(
            [
                "X0tigervnc", "-display", Screen.environment["DISPLAY"] ?? "", "-SecurityTypes",
                "Plain", "-PlainUsers", "alice", "-PAMService", "tigervnc", "-rfbport", "-1",
                "-rfbunixpath", "/run/vnc/socket",
            ], as: HostFixture.alice, environment: Screen.environment)
        try signet.shell("until [ -S /run/vnc/socket ]; do :; done")
        func view(_ password: String) throws -> TestSupport.Program {
            try host.start(
                [
                    "\(Layout.package)/Tests/HostFixture/vnc-viewer.py", "/run/vnc/socket", "alice",
                    password,
                ], as: HostFixture.alice,
                in: .remoteSession(of: HostFixture.alice))
        }
        let own = try host.terminal(Self.sudo, as: HostFixture.alice)
        try own.expectInvitation()
        let viewer = try view("wrong")
        try signet.expectDenial("notAtMachine")
        try signet.touch(Touch.alice)
        try own.expect("root\r\n")
        #expect(!own.transcript.contains("tigervnc"))
        #expect(try viewer.expectEnd().output == "refused\n")
        #expect(try view(HostFixture.alice.password).expectEnd().output == "authenticated\n")
        #expect(server.ended == nil)
    }

    @Test("that is not root's gets a touch as a screen locker only, whatever terminal it names")
    func unprivileged() throws {
        for service in ["login", "sudo", "tigervnc", "i3lock"] {
            try host.writeService(service, "@include common-auth\n@include common-account\n")
        }
        func ask(_ service: String) throws -> Terminal {
            try host.terminal(
                ["pamtester", "-I", "tty=pts/9", service, "alice", "authenticate"],
                as: HostFixture.alice)
        }
        for service in ["login", "sudo", "tigervnc"] {
            let terminal = try ask(service)
            try terminal.expect("Password: ")
            #expect(!terminal.transcript.contains(SignetFixture.invitation))
            try signet.expectDenial("notAtMachine")
            try terminal.control(.c)
        }
        let locker = try ask("i3lock")
        try locker.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try locker.expect("successfully authenticated")
        let decision = try host.journal.expect("the decision") {
            $0["SIGNET_SERVICE"] == "i3lock" && $0["SIGNET_DECISION"] == "allow"
        }
        #expect(decision["SIGNET_TERMINAL"] != "pts/9")
    }

    @Test("and runs as root gets none as a service of the network, in the session")
    func privileged() throws {
        for service in ["tigervnc", "xrdp-sesman", "cockpit", "vncserver"] {
            try host.writeService(service, "@include common-auth\n@include common-account\n")
            let terminal = try host.terminal(
                ["pamtester", service, "alice", "authenticate"], as: HostFixture.root,
                in: .session(of: HostFixture.alice))
            try terminal.expect(
                "it was requested by a service for users of other machines: \(service)")
            try terminal.expect("Password: ")
            #expect(!terminal.transcript.contains(SignetFixture.invitation))
            try terminal.control(.c)
        }
    }
}
