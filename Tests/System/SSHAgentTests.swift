// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// Real ssh, sshd, ssh-add, ssh-keygen, git and ssh-agent with `signet-agent`.
@Suite("OpenSSH with signet-agent", .timeLimit(.minutes(5)))
struct SSHAgentTests {
    private let fixture: SSHAgentFixture
    private var ssh: SSHFixture { fixture.ssh }
    private var signet: SignetFixture { fixture.signet }
    private var host: HostFixture { fixture.host }

    init() throws {
        fixture = try SSHAgentFixture()
        try fixture.makeKey()
    }

    private func expectLogin(_ terminal: Terminal) throws {
        try terminal.expect("logged in")
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
    }

    private func hostKey() throws -> String {
        String(try signet.shell("ssh-keygen -lf /etc/ssh/host.pub | cut -d' ' -f2").dropLast())
    }

    @Test("a touch logs in over the agent, and the receipt names user, host, session and program")
    func login() throws {
        let agent = try fixture.startAgent()
        let terminal = try fixture.login()
        fixture.touchUnseen()
        try expectLogin(terminal)
        let print = try hostKey()
        let purpose = try fixture.purpose()
        #expect(
            purpose.hasPrefix("ssh alice (host key \(print)), session with \(print), for ssh"),
            "\(purpose)")
        #expect(purpose.contains(", by signet-agent"), "\(purpose)")
        agent.signal(15)
        #expect(try agent.expectEnd().succeeded)
    }

    @Test("ssh-add lists the key, and ssh-keygen and git sign with it")
    func signatures() throws {
        let agent = try fixture.startAgent()
        let list = try fixture.alice("ssh-add -L")
        let line = String(decoding: try host.read(SSHAgentFixture.publicKey), as: UTF8.self)
        #expect(list.output == line && line.hasPrefix("ecdsa-sha2-nistp256 "), "\(list.output)")
        try ssh.aliceDoes("{ printf 'alice '; cat ~/.ssh/plain.pub; } >signers")
        let terminal = try fixture.terminal(
            """
            git init -q work && cd work && git config user.name alice
            git config user.email alice@example.org && git config gpg.format ssh
            git config user.signingkey ~/.ssh/plain.pub
            git config gpg.ssh.allowedSignersFile ~/signers
            git commit -q -S --allow-empty -m first
            """)
        fixture.touchUnseen()
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        let purpose = try fixture.purpose()
        #expect(
            purpose.hasPrefix("ssh signature: namespace git, for ssh-keygen of git"), "\(purpose)")
        let verified = try fixture.alice("cd work && git verify-commit HEAD")
        #expect(verified.succeeded && verified.errors.contains("Good \"git\" signature"))
        // Another finger signs nothing.
        let refused = try fixture.terminal("cd work && git commit -q -S --allow-empty -m second")
        signet.touchBlindly(Touch.bob) { fixture.decisions("deny") > 0 }
        #expect(try refused.expectEnd() != .exited(0))
        agent.signal(15)
    }

    @Test("a login over two hosts is named with both, and nothing else is signed over the first")
    func forwarding() throws {
        let agent = try fixture.startAgent()
        let again = "ssh -F none -o UserKnownHostsFile=/run/hosts alice@127.0.0.1 echo logged in"
        let refused = "cp .ssh/plain.pub p.pub; echo x >t; ssh-keygen -Y sign -f p.pub -n file t"
        let terminal = try fixture.login("\(refused); \(again)", "-A")
        signet.touchBlindly(Touch.alice) { fixture.decisions("allow") > 1 }
        try expectLogin(terminal)
        #expect(terminal.transcript.contains("agent refused operation"), "\(terminal.transcript)")
        try agent.expectError("the request was forwarded, and does not say where it leads")
        let print = try hostKey()
        _ = try host.journal.expect("the second login") {
            $0["SIGNET_PURPOSE"]?.contains("forwarded by \(print), for ssh") == true
        }
        #expect(fixture.decisions("allow") == 2)
        agent.signal(15)
    }

    @Test(
        "a remote session, and a program that passes connections on, get no signature unless allowed"
    )
    func unnamed() throws {
        let agent = try fixture.startAgent()
        let sign =
            "echo x >text; rm -f text.sig; ssh-keygen -Y sign -f ~/.ssh/plain.pub -n file text"
        let remote = try fixture.alice(sign, in: .remoteSession(of: HostFixture.alice))
        #expect(!remote.succeeded && remote.errors.contains("agent refused operation"))
        // A copy of a relay's name is as good as the relay: it is honest ones that are recognised.
        let relay = """
            import os, socket, sys
            open('/proc/self/comm', 'w').write(sys.argv[1])
            s = socket.socket(socket.AF_UNIX); s.connect(os.environ['SSH_AUTH_SOCK'])
            def ask(m):
                s.sendall(len(m).to_bytes(4, 'big') + m)
                n = int.from_bytes(s.recv(4), 'big'); a = b''
                while len(a) < n: a += s.recv(n - len(a))
                return a
            def st(b): return len(b).to_bytes(4, 'big') + b
            a = ask(b'\\x0b'); n = int.from_bytes(a[5:9], 'big'); blob = a[9:9 + n]
            data = b'SSHSIG' + st(b'file') + st(b'') + st(b'sha256') + st(b'x' * 32)
            print(ask(b'\\x0d' + st(blob) + st(data) + bytes(4))[0])
            """
        try host.write("/home/alice/relay.py", relay + "\n")
        for name in ["socat", "plink", "putty", "dbclient", "sshd-session"] {
            #expect(try fixture.alice("python3 relay.py \(name)").output == "5\n", "\(name)")
        }
        #expect(fixture.decisions("allow") == 0)
        agent.signal(15)
        _ = try agent.expectEnd()
        try fixture.configure("unnamed-forwarding = yes")
        let open = try fixture.startAgent()
        let terminal = try fixture.terminal("python3 relay.py socat")
        fixture.touchUnseen()
        try terminal.expect("14")
        _ = try terminal.expectEnd()
        open.signal(15)
    }

    @Test("forged, repeated and late bindings leave a connection that signs nothing")
    func bindings() throws {
        let agent = try fixture.startAgent()
        try host.write("/home/alice/bind.py", Self.bindings)
        try ssh.aliceDoes("ssh-keygen -q -t ed25519 -N '' -f hostkey")
        let outcome = try fixture.alice("python3 bind.py")
        #expect(
            outcome.output.split(separator: "\n") == [
                "forged 28 5", "good 6", "repeated 28 5", "late 28 5", "other session 5",
            ], "\(outcome.output)\(outcome.errors)")
        #expect(fixture.decisions("allow") == 0)
        agent.signal(15)
    }

    /// Speaks the agent's protocol: what it was answered, and what a signature then was.
    private static let bindings =
        SSHAgentScript.preamble + """
            a = Agent(); sid, sig = signed(1)
            print('forged', a.bind(sid + b'x', sig, 0), a.sign(sid))
            a = Agent(); print('good', a.bind(sid, sig, 1))
            print('repeated', a.bind(sid, sig, 1), a.sign(sid))
            a = Agent(); a.bind(sid, sig, 0); sid2, sig2 = signed(2)
            print('late', a.bind(sid2, sig2, 0), a.sign(sid2))
            a = Agent(); a.bind(sid, sig, 0)
            print('other session', a.sign(b'y' * 32))

            """

    @Test(
        "other keys are the other agent's, with lifetimes and restrictions, and the lock is both's")
    func upstream() throws {
        try fixture.makeFileKey()
        let other = "/home/alice/other.sock"
        let stock = try host.start(["ssh-agent", "-D", "-a", other], as: HostFixture.alice)
        try stock.expect("SSH_AUTH_SOCK")
        let agent = try fixture.startAgent("-u", other)
        let added = try fixture.alice(
            "ssh-add -q -t 600 ~/.ssh/file && ssh-add -l && ssh-add -q -d ~/.ssh/file && ssh-add -l | wc -l"
        )
        #expect(added.succeeded, "\(added.errors)")
        #expect(added.output.contains("(ECDSA)") && added.output.contains("(ED25519)"))
        #expect(added.output.hasSuffix("1\n"), "\(added.output)")
        _ = try fixture.alice("ssh-add -q ~/.ssh/file")
        // ssh passes over our key's touch: the file key is asked for alone.
        let terminal = try fixture.login(
            "echo logged in", "-o", "IdentitiesOnly=yes", identities: ["/home/alice/.ssh/file.pub"])
        try expectLogin(terminal)
        #expect(fixture.decisions("allow") == 0)
        // A restricted key is the other agent's to restrict: it sees the sessions.
        _ = try fixture.alice("ssh-add -q -d ~/.ssh/file")
        try signet.shell(
            "printf 'elsewhere ' >/run/elsewhere; cut -d' ' -f1,2 /home/alice/.ssh/file.pub >>/run/elsewhere; chmod 644 /run/elsewhere"
        )
        let restricted = try fixture.alice("ssh-add -q -H /run/elsewhere -h elsewhere ~/.ssh/file")
        #expect(restricted.succeeded, "\(restricted.errors)")
        let refused = try fixture.login(
            "echo logged in", "-o", "IdentitiesOnly=yes", identities: ["/home/alice/.ssh/file.pub"])
        #expect(try refused.expectEnd() != .exited(0))
        #expect(!refused.transcript.contains("logged in"), "\(refused.transcript)")
        try lockAndUnlock()
        agent.signal(15)
        stock.signal(15)
    }

    private func lockAndUnlock() throws {
        try passphrase("ssh-add -x", "secret", "secret")
        #expect(try fixture.alice("ssh-add -l").output.contains("no identities"))
        let other = try fixture.alice("ssh-add -l", socket: "/home/alice/other.sock")
        #expect(other.output.contains("no identities"), "\(other.output)")
        let locked = try fixture.alice(
            "echo x >t; ssh-keygen -Y sign -f ~/.ssh/plain.pub -n file t")
        #expect(!locked.succeeded)
        try passphrase("ssh-add -X", "secret")
        #expect(try fixture.alice("ssh-add -l").output.contains("(ECDSA)"))
        let open = try fixture.alice("ssh-add -l", socket: "/home/alice/other.sock")
        #expect(open.output.contains("(ED25519)"), "\(open.output)")
    }

    private func passphrase(_ command: String, _ answers: String...) throws {
        let terminal = try fixture.terminal(command)
        for (number, answer) in answers.enumerated() {
            try terminal.expect(number == 0 ? "password: " : "Again: ")
            try terminal.sendLine(answer)
        }
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
    }

    @Test("a wrong passphrase does not unlock, and a key that is taken out stays in signetd")
    func lock() throws {
        let agent = try fixture.startAgent()
        try passphrase("ssh-add -x", "secret", "secret")
        let wrong = try fixture.terminal("ssh-add -X")
        try wrong.expect("password: ")
        try wrong.sendLine("guess")
        #expect(try wrong.expectEnd() != .exited(0))
        #expect(try fixture.alice("ssh-add -l").output.contains("no identities"))
        agent.signal(15)
        _ = try agent.expectEnd()
        let next = try fixture.startAgent()
        #expect(try fixture.alice("ssh-add -q -d ~/.ssh/plain.pub").succeeded)
        #expect(try fixture.alice("ssh-add -l").output.contains("no identities"))
        next.signal(15)
        _ = try next.expectEnd()
        let last = try fixture.startAgent()
        #expect(try fixture.alice("ssh-add -l").output.contains("(ECDSA)"))
        #expect(try fixture.alice("ssh-add -q -D").succeeded)
        #expect(try fixture.alice("ssh-add -l").output.contains("no identities"))
        // Nothing holds private keys here.
        try fixture.makeFileKey()
        let added = try fixture.alice("ssh-add ~/.ssh/file")
        #expect(!added.succeeded && added.errors.contains("agent refused operation"))
        last.signal(15)
    }

    @Test("a daemon that hangs or is gone lets ssh go on with its next key")
    func noDaemon() throws {
        try fixture.makeFileKey()
        let agent = try fixture.startAgent()
        for isGone in [false, true] {
            if isGone {
                signet.resume()
                try signet.stop()
            } else {
                signet.suspend()
            }
            let terminal = try fixture.login(identities: ["/home/alice/.ssh/file"])
            try expectLogin(terminal)
            try agent.expectError("signetd cannot be asked")
        }
        agent.signal(15)
    }

    @Test("a client that goes away takes its request for a touch back")
    func hangUp() throws {
        let agent = try fixture.startAgent()
        let watcher = try signet.connect()
        try watcher.send(.watch(account: "alice"))
        let terminal = try fixture.terminal(
            "echo x >t; exec ssh-keygen -Y sign -f ~/.ssh/plain.pub -n file t")
        while true {
            guard case .event(let event)? = try watcher.receive() else { continue }
            if !event.isOver { break }
        }
        terminal.signal(9)
        _ = try host.journal.expect("a request that was taken back") {
            $0["SIGNET_VERB"] == "sshAgentSign" && $0["SIGNET_REASON"] == "cancelled"
        }
        #expect(fixture.decisions("allow") == 0)
        agent.signal(15)
    }

    @Test("a running agent's key outlives a change of fingers with the password, and not root's")
    func changes() throws {
        let agent = try fixture.startAgent()
        #expect(try fixture.alice("ssh-add -l").output.contains("(ECDSA)"))
        try fixture.ssh.addFinger("alice's other")
        let terminal = try fixture.login()
        signet.touchBlindly("alice's other") { fixture.decisions("allow") > 0 }
        try expectLogin(terminal)
        try signet.enroll(HostFixture.alice, .leftThumb, as: "alice's third")
        #expect(try fixture.alice("ssh-add -l").output.contains("no identities"))
        let refused = try fixture.login()
        #expect(try refused.expectEnd() != .exited(0))
        #expect(!refused.transcript.contains("logged in"), "\(refused.transcript)")
        #expect(fixture.decisions("allow") == 1)
        agent.signal(15)
    }

    @Test("other users are turned away, even root, and a settings file with a mistake is refused")
    func others() throws {
        let agent = try fixture.startAgent()
        let line = "SSH_AUTH_SOCK=\(SSHAgentFixture.socket) ssh-add -l"
        let root = try host.run(["sh", "-c", line])
        #expect(!root.succeeded && !root.output.contains("ECDSA"), "\(root.output)")
        try agent.expectError("a program of another user was turned away")
        let bob = try host.run(["sh", "-c", line], as: HostFixture.bob)
        #expect(!bob.succeeded && !bob.output.contains("ECDSA"), "\(bob.output)")
        agent.signal(15)
        _ = try agent.expectEnd()
        try fixture.configure("unnamed-forwarding = perhaps")
        let refused = try host.run(
            ["signet-agent", "-a", SSHAgentFixture.socket], as: HostFixture.alice)
        #expect(!refused.succeeded && refused.errors.contains("agent.conf:2:"), "\(refused.errors)")
        // A file that others could write, and a path where something else is.
        try fixture.configure("unbound = yes")
        try signet.shell("chmod 666 /home/alice/.config/signet/agent.conf")
        let open = try host.run(["signet-agent", "-a", "/home/alice/x"], as: HostFixture.alice)
        #expect(!open.succeeded, "\(open.errors)")
        try signet.shell("chmod 600 /home/alice/.config/signet/agent.conf; touch /home/alice/taken")
        let taken = try host.run(
            ["signet-agent", "-a", "/home/alice/taken"], as: HostFixture.alice)
        #expect(!taken.succeeded)
        #expect(try host.run(["test", "-f", "/home/alice/taken"]).succeeded)
    }

    @Test("a key with destinations logs in where it may, and signs nothing elsewhere")
    func destinations() throws {
        let print = try hostKey()
        try fixture.configure("destinations = plain:alice@\(print)")
        let agent = try fixture.startAgent()
        let file = try fixture.alice("echo x >t; ssh-keygen -Y sign -f ~/.ssh/plain.pub -n file t")
        #expect(!file.succeeded)
        let terminal = try fixture.login()
        fixture.touchUnseen()
        try expectLogin(terminal)
        agent.signal(15)
        _ = try agent.expectEnd()
        try fixture.configure("destinations = plain:bob@\(print)")
        let other = try fixture.startAgent()
        let refused = try fixture.login()
        #expect(try refused.expectEnd() != .exited(0))
        try other.expectError("the key's destinations do not permit it")
        #expect(fixture.decisions("allow") == 1)
        other.signal(15)
    }

    @Test("systemd's socket starts it for a client, and it ends when it is idle")
    func activation() throws {
        let path = "/home/alice/systemd.sock"
        // Its own socket, which it did not bind itself, is no other agent.
        try fixture.configure("upstream = \(path)")
        let socket = try host.start(
            ["systemd-socket-activate", "-l", path, "/usr/local/bin/signet-agent"],
            as: HostFixture.alice, in: .manager(of: HostFixture.alice))
        try socket.expectError("Listening on")
        let list = try fixture.alice("ssh-add -l", socket: path)
        #expect(list.output.contains("(ECDSA)"), "\(list.output)\(list.errors)")
        try socket.expectError("'upstream' is this agent itself")
        #expect(try socket.expectEnd().succeeded)
    }
}
