// SPDX-License-Identifier: Apache-2.0
import TestSupport

extension DemoSet {
    /// ssh and git with keys that a touch unlocks.
    static let sshScenes = [
        DemoScene(
            title: "A touch logs in at an ssh server, which demands the finger",
            about:
                "Real ssh-keygen, ssh and sshd with 'PubkeyAuthOptions verify-required'. The key "
                + "is sealed to alice's fingers; what it signed is in her log.",
            play: login),
        DemoScene(
            title: "A touch signs a git commit",
            about:
                "With git's own ssh signatures. Somebody else's finger signs nothing, and then git "
                + "commits nothing.",
            play: commit),
        DemoScene(
            title: "signet-agent logs in without security keys, and signs nothing unnamed",
            about:
                "Plain ssh with SSH_AUTH_SOCK. The agent is forwarded to the server, where "
                + "ssh-keygen asks it for a signature: nothing says where that leads.",
            play: agent),
    ]

    private static let provider = "/usr/local/lib/signet/libsk-signet.so"
    private static let agentSocket = "/home/alice/agent.sock"
    private static let swipe = "swipe your finger across the reader"

    /// Installs the provider and an sshd, on a network of its own beside the client.
    func prepareSSH() throws {
        try shell(
            """
            getent passwd sshd >/dev/null || useradd --system --no-create-home \
                --home-dir /nonexistent --user-group --shell /usr/sbin/nologin sshd
            mkdir -p -m 755 /run/sshd /etc/ssh /usr/local/lib/signet
            ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/host
            install -d -o alice -g alice -m 700 /home/alice/.ssh
            """)
        try host.install(Built.sshProvider(), at: Self.provider, mode: 0o644)
        try host.write(
            "/etc/ssh/sshd_config",
            """
            ListenAddress 127.0.0.1
            HostKey /etc/ssh/host
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            PubkeyAuthOptions verify-required
            AuthorizedKeysFile .ssh/authorized_keys
            UseDNS no

            """)
        try host.write(
            "/usr/local/bin/beside-sshd",
            """
            #!/bin/sh
            ip link set lo up
            /usr/sbin/sshd -D -e 2>/run/sshd.log & sshd=$!
            until ssh-keyscan -T 1 127.0.0.1 >/run/hosts 2>/dev/null && [ -s /run/hosts ]; do
                kill -0 $sshd || exit 9
            done
            chmod 644 /run/hosts
            cd /home/alice
            HOME=/home/alice setpriv --reuid=alice --regid=alice --init-groups "$@"
            status=$?
            kill $sshd
            exit $status

            """, mode: 0o755)
        _ = try signet.enroll(HostFixture.alice, as: Finger.aliceRight.rawValue)
    }

    private static func login(_ set: DemoSet) throws {
        let file = "/home/alice/.ssh/id_ecdsa_sk"
        let made = try set.alice(
            shown: "ssh-keygen -t ecdsa-sk -w libsk-signet.so",
            ["ssh-keygen", "-q", "-t", "ecdsa-sk", "-w", provider, "-f", file, "-N", ""])
        try set.see(swipe, on: made)
        try set.touch(.aliceRight)
        try set.end(made, "ssh-keygen has made a key")
        try set.shell("cd /home/alice/.ssh && install -m 644 id_ecdsa_sk.pub authorized_keys")
        set.screen.command("ssh alice@server whoami", prompt: "alice@linux:~$ ")
        let ssh = try set.host.terminal(
            [
                "unshare", "--net", "beside-sshd", "ssh", "-tt", "-F", "none", "-o",
                "UserKnownHostsFile=/run/hosts", "-o", "SecurityKeyProvider=\(provider)",
                "alice@127.0.0.1", "whoami",
            ], as: HostFixture.root, copyingTo: set.screen.terminals)
        try set.see(swipe, on: ssh)
        try set.touch(.aliceRight)
        try set.see("alice\r\n", on: ssh)
        try set.end(ssh, "sshd accepts the signature of a verified user")
        let log = try set.alice("signet", "log")
        try set.see("ssh alice (host key SHA256:", on: log)
        try set.end(log, "the receipt names the user and the server's host key")
    }

    private static func commit(_ set: DemoSet) throws {
        try set.end(
            set.asAlice(
                shown: "git config gpg.format ssh",
                """
                git init -q work && cd work
                git config user.name alice && git config user.email alice@example.org
                git config gpg.format ssh && git config user.signingkey ~/.ssh/id_ecdsa_sk.pub
                git config gpg.ssh.allowedSignersFile ~/signers
                { printf 'alice@example.org '; cat ~/.ssh/id_ecdsa_sk.pub; } >~/signers
                """), "git is told to sign with the key")
        let commit = try set.asAlice(
            shown: "git commit -S -m 'pay the invoice'",
            "cd work && git commit -q --allow-empty -S -m 'pay the invoice'")
        // git shows nothing while it waits, and what comes before the reader does is lost.
        set.screen.act(Finger.aliceRight.text)
        let signed = try set.touching(.aliceRight, untilEndOf: commit)
        try set.check(
            "the commit is signed", signed == .exited(0), came: "\(signed)\n\(commit.transcript)")
        let check = try set.asAlice(
            shown: "git verify-commit HEAD", "cd work && git verify-commit HEAD")
        try set.see("Good \"git\" signature for alice@example.org", on: check)
        try set.end(check, "git verifies it with stock ssh-keygen")
        let refused = try set.asAlice(
            shown: "git commit -S -m 'pay it twice'",
            "cd work && git commit -q --allow-empty -S -m 'pay it twice'")
        set.screen.act(Finger.stranger.text)
        let ending = try set.touching(.stranger, untilEndOf: refused)
        try set.check(
            "git commits nothing for a stranger's finger", ending != .exited(0),
            came: "\(ending)\n\(refused.transcript)")
    }

    private static func agent(_ set: DemoSet) throws {
        let made = try set.alice("signet", "ssh", "new", "--agent", "plain")
        try set.see(swipe, on: made)
        try set.touch(.aliceRight)
        try set.end(made, "signet has made a key for the agent")
        let published = try set.host.run(
            ["sh", "-c", "signet ssh public plain >.ssh/plain.pub"], as: HostFixture.alice)
        try set.check("signet prints its public key", published.succeeded, came: published.errors)
        try set.shell("cat /home/alice/.ssh/plain.pub >>/home/alice/.ssh/authorized_keys")
        // As systemd starts it when a program connects.
        let agent = try set.host.start(
            [try Built.program("signet-agent"), "-a", agentSocket], as: HostFixture.alice,
            in: .manager(of: HostFixture.alice))
        defer { agent.signal(15) }
        try agent.expect("SSH_AUTH_SOCK=\(agentSocket);")
        set.screen.command(
            "ssh -A alice@server 'whoami; ssh-keygen -Y sign -f .ssh/plain.pub -n file text'",
            prompt: "alice@linux:~$ ")
        let ssh = try set.host.terminal(
            [
                "unshare", "--net", "beside-sshd", "env", "SSH_AUTH_SOCK=\(agentSocket)", "ssh",
                "-tt",
                "-A", "-F", "none", "-o", "UserKnownHostsFile=/run/hosts", "alice@127.0.0.1",
                "whoami; echo x >text; ! ssh-keygen -Y sign -f .ssh/plain.pub -n file text",
            ], as: HostFixture.root, in: .session(of: HostFixture.alice),
            copyingTo: set.screen.terminals)
        // ssh shows nothing while the agent waits, and what comes before the reader does is lost.
        set.screen.act(Finger.aliceRight.text)
        let ending = try set.touching(.aliceRight, untilEndOf: ssh)
        try set.check(
            "the touch logs in", ending == .exited(0) && ssh.transcript.contains("alice\r\n"),
            came: "\(ending)\n\(ssh.transcript)")
        try set.check(
            "what the server asks for is refused",
            ssh.transcript.contains("agent refused operation"), came: ssh.transcript)
        try agent.expectError("the request was forwarded, and does not say where it leads")
        let log = try set.alice("signet", "log")
        try set.see(", by signet-agent", on: log)
        try set.end(log, "the receipt names the host, and the agent that asked")
    }

    /// Puts a finger on the reader again and again, until a program has ended.
    private func touching(_ finger: Finger, untilEndOf terminal: Terminal) throws -> Ending {
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline {
            try? signet.reader().send(.scan(finger.rawValue), within: .milliseconds(300))
            if let ending = try? terminal.expectEnd(within: .milliseconds(100)) { return ending }
        }
        return try terminal.expectEnd(within: .milliseconds(100))
    }

    private func asAlice(shown: String, _ line: String) throws -> Terminal {
        screen.command(shown, prompt: "alice@linux:~/work$ ")
        return try host.terminal(
            ["sh", "-c", line], as: HostFixture.alice,
            environment: ["SSH_SK_PROVIDER": Self.provider], copyingTo: screen.terminals)
    }
}
