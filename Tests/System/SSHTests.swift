// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// Real ssh and sshd over a loopback of their own, with sshd's PAM stack as Debian has it.
@Suite("sshd", .timeLimit(.minutes(5)), .notingCells)
struct SSHTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.debian()
        try signet.addSystemAccounts("sshd")
        try signet.shell(
            """
            mkdir -p -m 755 /run/sshd /etc/ssh
            ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/host
            ssh-keygen -q -t ed25519 -N '' -f /root/key
            install -d -o alice -g alice -m 700 /home/alice/.ssh
            install -o alice -g alice -m 600 /root/key.pub /home/alice/.ssh/authorized_keys
            """)
        try host.write(
            "/etc/ssh/sshd_config",
            """
            ListenAddress 127.0.0.1
            HostKey /etc/ssh/host
            UsePAM yes
            KbdInteractiveAuthentication yes
            PasswordAuthentication no
            AuthorizedKeysFile .ssh/authorized_keys
            PrintMotd no
            UseDNS no

            """)
        // A network of its own, which goes with the client: no other ports are touched.
        try host.write(
            "/usr/local/bin/over-ssh",
            """
            #!/bin/sh
            ip link set lo up
            /usr/sbin/sshd -D -e 2>/run/sshd.log & sshd=$!
            until ssh-keyscan -T 1 127.0.0.1 >/run/hosts 2>/dev/null && [ -s /run/hosts ]; do
                kill -0 $sshd || exit 9
            done
            ssh -tt -o UserKnownHostsFile=/run/hosts -o StrictHostKeyChecking=yes "$@"
            status=$?
            kill $sshd
            exit $status

            """, mode: 0o755)
    }

    private func ssh(_ words: String...) throws -> Terminal {
        try host.terminal(["unshare", "--net", "over-ssh"] + words, as: HostFixture.root)
    }

    private func askedByPassword() throws -> Terminal {
        let terminal = try ssh(
            "-o", "PreferredAuthentications=keyboard-interactive", "alice@127.0.0.1")
        try terminal.expect("Password: ")
        return terminal
    }

    private func leave(_ terminal: Terminal) throws {
        try terminal.expect("alice@linux$ ")
        try terminal.sendLine("exit 0")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    /// Whether the module or the daemon had anything to do with it.
    private var isAsked: Bool {
        host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" }
    }

    @Test("asks for the password only, and a touch at the machine admits no remote user")
    func keyboardInteractive() throws {
        shows(.sshd, .password, .remote)
        let terminal = try askedByPassword()
        try terminal.sendLine(HostFixture.alice.password)
        try leave(terminal)
        #expect(!terminal.transcript.contains("reader"))
        #expect(!isAsked)
    }

    @Test("refuses a wrong password")
    func wrongPassword() throws {
        shows(.sshd, .wrongPassword)
        let terminal = try askedByPassword()
        try terminal.sendLine(HostFixture.bob.password)
        try terminal.expect("Password: ")
        try terminal.sendLine("")
        try terminal.expect("Password: ")
        try terminal.sendLine(HostFixture.root.password)
        try terminal.expect("Permission denied")
        #expect(try terminal.expectEnd() != .exited(0))
        #expect(!isAsked)
    }

    @Test("takes the password without a daemon, and with one that stands still")
    func noDaemon() throws {
        shows(.sshd, .daemonDown, .daemonSilent)
        signet.suspend()
        let silent = try askedByPassword()
        try silent.sendLine(HostFixture.alice.password)
        try leave(silent)
        signet.resume()
        try signet.stop()
        let down = try askedByPassword()
        try down.sendLine(HostFixture.alice.password)
        try leave(down)
        for terminal in [silent, down] { #expect(!terminal.transcript.contains("fingerprint")) }
    }

    // MARK: sudo in the session

    /// A shell by public key, which waits to become sudo: in a session as logind has it of sshd.
    private func sudoInSession() throws -> Terminal {
        let terminal = try ssh(
            "-i", "/root/key", "-o", "PreferredAuthentications=publickey", "alice@127.0.0.1",
            "sh -c 'echo pid $$.; read go; exec sudo id -un'")
        try terminal.expect("pid ")
        let pid = try terminal.expect(".")
        try host.move(pid, to: .remoteSession(of: HostFixture.alice))
        try terminal.sendLine("go")
        return terminal
    }

    @Test("accepts a key, and sudo in the session asks for the password, not for a touch here")
    func sudo() throws {
        shows(.sudoOverSSH, .password, .remote, .restored)
        let terminal = try sudoInSession()
        try terminal.expect("password for alice: ")
        #expect(!terminal.transcript.contains("reader"))
        try signet.expectDenial("remoteSession")
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        let mode = try terminal.mode()
        #expect(mode.echoes && mode.isCanonical && mode.makesSignals)
    }

    @Test("sudo in the session refuses a wrong password")
    func sudoWrongPassword() throws {
        shows(.sudoOverSSH, .wrongPassword)
        let terminal = try sudoInSession()
        for wrong in [HostFixture.bob.password, HostFixture.root.password, "wrong"] {
            try terminal.expect("password for alice: ")
            try terminal.sendLine(wrong)
        }
        try terminal.expect("3 incorrect password attempts")
        #expect(try terminal.expectEnd() == .exited(1))
        #expect(!terminal.transcript.contains("root\r\n"))
    }

    @Test("sudo in the session needs no daemon for the password", arguments: [true, false])
    func sudoWithoutDaemon(isSilent: Bool) throws {
        shows(.sudoOverSSH, isSilent ? .daemonSilent : .daemonDown)
        if isSilent { signet.suspend() } else { try signet.stop() }
        let terminal = try sudoInSession()
        if isSilent {
            // Slow or dead is not known: the password can be typed meanwhile.
            try terminal.expect("or type the password: ")
        } else {
            try terminal.expect("the fingerprint service does not answer: use the password")
            try terminal.expect("password for alice: ")
        }
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        signet.resume()
    }
}
