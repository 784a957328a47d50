// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import TestSupport
import Testing

/// `signet-agent` with programs that do what ssh does not, and with other agents that cannot be
/// trusted.
@Suite("Hostile programs at signet-agent's socket", .timeLimit(.minutes(5)))
struct SSHAgentAbuseTests {
    private let fixture: SSHAgentFixture
    private var host: HostFixture { fixture.host }

    init() throws {
        fixture = try SSHAgentFixture()
        try fixture.makeKey()
        try fixture.ssh.aliceDoes("ssh-keygen -q -t ed25519 -N '' -f hostkey")
    }

    /// What a Python program says that uses the agent.
    private func python(_ lines: String) throws -> [Substring] {
        try host.write("/home/alice/abuse.py", SSHAgentScript.preamble + lines + "\n")
        let outcome = try fixture.alice("python3 abuse.py")
        #expect(outcome.succeeded, "\(outcome.errors)")
        return outcome.output.split(separator: "\n")
    }

    @Test("a host that signs another host's session gets no login that states no host")
    func foreignSession() throws {
        let agent = try fixture.startAgent()
        let outcome = try python(
            """
            sid, sig = signed(1); sid2, sig2 = signed(2)
            a = Agent()
            print(a.bind(sid, sig, 1), a.bind(sid2, sig2, 0), a.ask(a.signing(plain(sid2)))[0])
            """)
        #expect(outcome == ["6 6 5"])
        try agent.expectError("does not state its host")
        #expect(fixture.decisions("allow") == 0)
        agent.signal(15)
    }

    @Test("a session that is bound while the agent is locked ends the use of the other agent, too")
    func lockedBinding() throws {
        try fixture.makeFileKey()
        let other = "/home/alice/other.sock"
        let stock = try host.start(["ssh-agent", "-D", "-a", other], as: HostFixture.alice)
        try stock.expect("SSH_AUTH_SOCK")
        let agent = try fixture.startAgent("-u", other)
        #expect(try fixture.alice("ssh-add -q ~/.ssh/file").succeeded)
        let outcome = try python(
            """
            sid, sig = signed(1)
            a = Agent(); b = Agent()
            print(a.keys(), b.ask(b'\\x16' + st(b'secret'))[0], a.bind(sid, sig, 1))
            print(b.ask(b'\\x17' + st(b'secret'))[0], a.keys(), b.keys(), a.sign(sid))
            """)
        #expect(outcome == ["2 6 5", "6 0 2 5"], "\(outcome)")
        agent.signal(15)
        stock.signal(15)
    }

    @Test("another agent that takes some sessions and refuses others is given up; one without, not")
    func halfBound() throws {
        // ssh-keygen asks the agent, too, and so comes before the other agent.
        let agent = try fixture.startAgent("-u", "/home/alice/fake.sock")
        let outcome = try python(
            """
            sid, sig = signed(1); sid2, sig2 = signed(2)
            l = socket.socket(socket.AF_UNIX); l.bind('fake.sock'); l.listen(9)
            def serve(s, answers):
                while m := receive(s):
                    if m[0] == 27: a = bytes([answers.pop(0)])
                    else: a = b'\\x0c\\0\\0\\0\\1' + st(b'blob') + st(b'other')
                    s.sendall(st(a))
            def fake(*answers):
                def run(): serve(l.accept()[0], list(answers))
                threading.Thread(target=run, daemon=True).start()
            fake(6, 28); a = Agent()
            print(a.keys(), a.bind(sid, sig, 1), a.keys(), a.bind(sid2, sig2, 1), a.keys())
            fake(5, 5); a = Agent()
            print(a.keys(), a.bind(sid, sig, 1), a.keys(), a.bind(sid2, sig2, 1), a.keys())
            fake(5, 6); a = Agent()
            print(a.bind(sid, sig, 1), a.bind(sid2, sig2, 1), a.keys())
            """)
        #expect(outcome == ["2 6 2 6 1", "2 6 2 6 2", "6 6 1"], "\(outcome)")
        try agent.expectError("has refused one of several sessions")
        agent.signal(15)
    }

    @Test("another user's socket, and the agent's own, are no other agent")
    func upstreamOwner() throws {
        try fixture.makeFileKey()
        let trap = """
            import os, socket
            l = socket.socket(socket.AF_UNIX); l.bind('/tmp/trap.sock'); os.chmod('/tmp/trap.sock', 0o777)
            l.listen(9); print('listening', flush=True)
            n = len(l.accept()[0].recv(99)); print('got', n, flush=True)
            """
        try host.write("/home/bob/trap.py", trap + "\n")
        let bob = try host.start(["python3", "/home/bob/trap.py"], as: HostFixture.bob)
        try bob.expect("listening")
        let agent = try fixture.startAgent("-u", "/tmp/trap.sock")
        #expect(try !fixture.alice("ssh-add ~/.ssh/file").succeeded)
        try agent.expectError("another user listens at 'upstream'")
        try bob.expect("got 0")
        #expect(try fixture.alice("ssh-add -l").output.contains("(ECDSA)"))
        agent.signal(15)
        _ = try agent.expectEnd()
        let own = try fixture.startAgent("-u", SSHAgentFixture.socket)
        #expect(try fixture.alice("ssh-add -l").output.contains("(ECDSA)"))
        try own.expectError("'upstream' is this agent itself")
        #expect(try !fixture.alice("ssh-add ~/.ssh/file").succeeded)
        own.signal(15)
        _ = try own.expectEnd()
        // Nor by another name.
        try fixture.signet.shell("ln -s \(SSHAgentFixture.socket) /home/alice/link.sock")
        let linked = try fixture.startAgent("-u", "/home/alice/link.sock")
        #expect(try fixture.alice("ssh-add -l").output.contains("(ECDSA)"))
        try linked.expectError("'upstream' is this agent itself")
        linked.signal(15)
        _ = try linked.expectEnd()
        for path in ["other.sock", "~/other.sock", "%h/other.sock"] {
            let refused = try host.run(
                ["signet-agent", "-a", SSHAgentFixture.socket, "-u", path], as: HostFixture.alice)
            #expect(!refused.succeeded && refused.errors.contains(path), "\(refused.errors)")
            try fixture.configure("upstream = \(path)")
            let unread = try host.run(
                ["signet-agent", "-a", SSHAgentFixture.socket], as: HostFixture.alice)
            #expect(
                !unread.succeeded && unread.errors.contains("'upstream' is '\(path)'"),
                "\(unread.errors)")
        }
    }

    @Test("two agents that name each other as the other one end in a refusal that says so")
    func namingEachOther() throws {
        try fixture.makeFileKey()
        let second = "/home/alice/second.sock"
        let agent = try fixture.startAgent("-u", second)
        let other = try host.start(
            ["signet-agent", "-a", second, "-u", SSHAgentFixture.socket], as: HostFixture.alice,
            in: .manager(of: HostFixture.alice))
        try other.expect("SSH_AUTH_SOCK=\(second);")
        for (name, first, last) in [(SSHAgentFixture.socket, agent, other), (second, other, agent)]
        {
            let asked = "SSH_AUTH_SOCK=\(name) ssh-add"
            let listed = try fixture.alice("\(asked) -l")
            #expect(listed.output.contains("(ECDSA)"), "\(listed)")
            #expect(try !fixture.alice("\(asked) ~/.ssh/file").succeeded)
            #expect(try !fixture.alice("printf 'x\\nx\\n' | \(asked) -x").succeeded)
            #expect(try fixture.alice("\(asked) -l").output.contains("(ECDSA)"), "not locked")
            try last.expectError("leads back to this agent")
            #expect(!first.errors.contains("too many connections"), "\(first.errors)")
        }
        // All that was opened meanwhile is closed again.
        for program in [agent, other] {
            let own = "ss -xHp | grep -c 'pid=\(program.pid),'"
            try fixture.signet.shell(
                "for i in $(seq 100); do [ $(\(own)) -le 2 ] && exit; sleep 0.1; done; exit 1")
        }
        for program in [agent, other] {
            program.signal(15)
            _ = try program.expectEnd()
        }
    }

    @Test("a signature that awaits its touch is taken back when the agent is locked")
    func lockedSignature() throws {
        let agent = try fixture.startAgent()
        let watcher = try fixture.signet.connect()
        try watcher.send(.watch(account: "alice"))
        let terminal = try fixture.terminal(
            "echo x >t; exec ssh-keygen -Y sign -f ~/.ssh/plain.pub -n file t")
        while true {
            guard case .event(let event)? = try watcher.receive() else { continue }
            if !event.isOver { break }
        }
        #expect(try python("print(Agent().ask(b'\\x16' + st(b'secret'))[0])") == ["6"])
        // Nobody touches.
        #expect(try terminal.expectEnd() != .exited(0))
        #expect(terminal.transcript.contains("agent refused operation"), "\(terminal.transcript)")
        _ = try host.journal.expect("a request that was taken back") {
            $0["SIGNET_VERB"] == "sshAgentSign" && $0["SIGNET_REASON"] == "cancelled"
        }
        #expect(fixture.decisions("allow") == 0)
        #expect(try python("print(Agent().ask(b'\\x17' + st(b'secret'))[0])") == ["6"])
        let again = try fixture.terminal(
            "echo x >t; exec ssh-keygen -Y sign -f ~/.ssh/plain.pub -n file t")
        fixture.touchUnseen()
        #expect(try again.expectEnd() == .exited(0), "\(again.transcript)")
        agent.signal(15)
    }

    @Test("other machines have one signature at a time awaited, and the user's own are not counted")
    func forwardedPlaces() throws {
        let agent = try fixture.startAgent()
        let watcher = try fixture.signet.connect()
        try watcher.send(.watch(account: "alice"))
        try host.write(
            "/home/alice/abuse.py",
            SSHAgentScript.preamble + """
                sid, sig = signed(1); sid2, sig2 = signed(2)
                def forwarded():
                    a = Agent(); a.bind(sid, sig, 1); a.bind(sid2, sig2, 0)
                    return a
                a = forwarded(); a.send(a.signing(request(sid2)))
                input()
                print('second', forwarded().sign(sid2))
                print('first', receive(a.s)[0])
                b = forwarded(); b.send(b.signing(request(sid2)))
                print('third', receive(b.s)[0])

                """)
        let terminal = try fixture.terminal("python3 abuse.py")
        while true {
            guard case .event(let event)? = try watcher.receive() else { continue }
            if !event.isOver { break }
        }
        try terminal.sendLine("")
        try terminal.expect("second 5")
        try agent.expectError("another forwarded request awaits its touch")
        fixture.touchUnseen()
        try terminal.expect("first 14")
        fixture.signet.touchBlindly(Touch.alice) { fixture.decisions("allow") > 1 }
        try terminal.expect("third 14")
        #expect(try terminal.expectEnd() == .exited(0))
        agent.signal(15)
    }

    @Test("for one connection too many, the one that is idle longest is closed")
    func crowd() throws {
        let agent = try fixture.startAgent()
        let outcome = try python(
            """
            all = [Agent() for _ in range(64)]
            for a in all: a.ask(b'\\x1b' + st(b'query'))
            all[0].ask(b'\\x1b' + st(b'query'))
            print(Agent().keys(), all[1].s.recv(1), all[0].keys(), all[63].keys())
            """)
        #expect(outcome == ["1 b'' 1 1"], "\(outcome)")
        try agent.expectError("too many connections")
        agent.signal(15)
    }

    @Test("destinations of a key that does not exist are complained of")
    func unknownName() throws {
        try fixture.configure(
            "destinations = plian:alice@SHA256:\(String(repeating: "A", count: 43))")
        let agent = try fixture.startAgent()
        #expect(try fixture.alice("ssh-add -l").output.contains("(ECDSA)"))
        try agent.expectError("names the key 'plian', which does not exist")
        agent.signal(15)
    }
}
