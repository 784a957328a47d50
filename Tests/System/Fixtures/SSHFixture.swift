// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// Real OpenSSH with the provider: alice's keys, and an sshd that demands the finger.
struct SSHFixture {
    /// Where the provider is installed in the fixture.
    static let provider = "/usr/local/lib/signet/libsk-signet.so"
    static let key = "/home/alice/.ssh/id_ecdsa_sk"

    let signet: SignetFixture
    var host: HostFixture { signet.host }

    /// An sshd that accepts alice's keys, those of security keys only with a verified user, and
    /// alice's file key if she has one.
    init() throws {
        signet = try SignetFixture.debian()
        try signet.addSystemAccounts("sshd")
        try signet.shell(
            """
            mkdir -p -m 755 /run/sshd /etc/ssh /usr/local/lib/signet
            ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/host
            install -d -o alice -g alice -m 700 /home/alice/.ssh
            """)
        try host.install(Built.sshProvider(), at: Self.provider, mode: 0o644)
        try signet.shell("ln -s \(try Built.program("signet")) /usr/local/bin/signet")
        try host.write(
            "/etc/ssh/sshd_config",
            """
            ListenAddress 127.0.0.1
            HostKey /etc/ssh/host
            UsePAM yes
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            PubkeyAuthOptions verify-required
            AuthorizedKeysFile .ssh/authorized_keys
            PrintMotd no
            UseDNS no

            """)
        // A network of its own, which goes with the client. The client is alice at the seat.
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
            HOME=/home/alice SSH_SK_PROVIDER=\(Self.provider) \
                setpriv --reuid=alice --regid=alice --init-groups "$@"
            status=$?
            kill $sshd
            exit $status

            """, mode: 0o755)
    }

    /// alice's terminal with `ssh-keygen`, which makes a key.
    func makingKey(
        _ file: String = key, _ options: String..., type: String = "ecdsa-sk"
    ) throws -> Terminal {
        try host.terminal(
            ["ssh-keygen", "-t", type, "-w", Self.provider, "-f", file, "-N", ""] + options,
            as: HostFixture.alice)
    }

    /// alice makes a key with her finger, and gives it to the server.
    func makeKey(_ file: String = key) throws {
        let terminal = try makingKey(file)
        try terminal.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        try signet.shell(
            "cat \(file).pub >>/home/alice/.ssh/authorized_keys && chmod 644 /home/alice/.ssh/authorized_keys"
        )
    }

    /// alice's terminal with ssh to the server, with these identities.
    func ssh(_ identities: [String] = [key], _ options: String...) throws -> Terminal {
        try host.terminal(
            ["unshare", "--net", "beside-sshd", "ssh", "-tt", "-F", "none"]
                + ["-o", "UserKnownHostsFile=/run/hosts", "-o", "StrictHostKeyChecking=yes"]
                + ["-o", "IdentitiesOnly=yes", "-o", "SecurityKeyProvider=\(Self.provider)"]
                + identities.flatMap { ["-i", $0] } + options
                + ["alice@127.0.0.1", "echo logged in"],
            as: HostFixture.root)
    }

    /// Runs a shell's line as alice, with the provider in the environment, on a new terminal.
    func alice(_ line: String) throws -> Terminal {
        try host.terminal(
            ["sh", "-c", line], as: HostFixture.alice,
            environment: ["SSH_SK_PROVIDER": Self.provider])
    }

    /// Runs a shell's line as alice to its end, which must be a success.
    @discardableResult
    func aliceDoes(_ line: String) throws -> String {
        let outcome = try host.run(["sh", "-c", line], as: HostFixture.alice)
        #expect(outcome.succeeded, "\(outcome.output)\(outcome.errors)")
        return outcome.output
    }

    /// alice adds a finger, with her password; she is told that her one ssh key stays.
    func addFinger(_ id: String) throws {
        let enrolling = try host.terminal(
            ["signet", "enroll", "left-index"], as: HostFixture.alice)
        try enrolling.expect("1 ssh key stays usable after this change")
        try enrolling.expect("Password of alice: ")
        try enrolling.sendLine(HostFixture.alice.password)
        try enrolling.expect(SignetFixture.invitation)
        signet.touchBlindly(id) { enrolling.transcript.contains("left-index is enrolled") }
        try enrolling.expect("1 ssh key can be used with the fingers that are enrolled now")
        #expect(try enrolling.expectEnd() == .exited(0), "\(enrolling.transcript)")
    }

    /// Waits for the journal's entry about a signature, and returns its purpose.
    func purpose(_ decision: String = "allow") throws -> String {
        let entry = try host.journal.expect("a decision about a signature: \(decision)") {
            $0["SIGNET_VERB"] == "sshSign" && $0["SIGNET_DECISION"] == decision
        }
        return entry["SIGNET_PURPOSE"] ?? ""
    }

    /// alice touches the reader until the daemon has signed, where no program shows when the reader
    /// waits.
    func touchUnseen() {
        signet.touchBlindly(Touch.alice) {
            host.journal.entries.contains {
                $0["SIGNET_VERB"] == "sshSign" && $0["SIGNET_DECISION"] == "allow"
            }
        }
    }

    /// Whether the daemon has refused a signature for a reason.
    func hasRefused(_ reason: String) -> Bool {
        host.journal.entries.contains {
            $0["SIGNET_VERB"] == "sshSign" && $0["SIGNET_REASON"] == reason
        }
    }

    /// Waits for the journal's entry about a signature that was refused for a reason.
    func expectRefusal(_ reason: String) throws {
        _ = try host.journal.expect("a refusal because of \(reason)") {
            $0["SIGNET_VERB"] == "sshSign" && $0["SIGNET_REASON"] == reason
        }
    }
}
