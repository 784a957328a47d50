// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// Real OpenSSH with `signet-agent`: alice's agent under her service manager, and an sshd with her
/// key.
struct SSHAgentFixture {
    static let socket = "/home/alice/agent.sock"
    static let publicKey = "/home/alice/.ssh/plain.pub"

    let ssh: SSHFixture
    var signet: SignetFixture { ssh.signet }
    var host: HostFixture { ssh.host }

    init() throws {
        ssh = try SSHFixture()
        try signet.shell(
            """
            ln -s \(try Built.program("signet-agent")) /usr/local/bin/signet-agent
            install -d -o alice -g alice -m 700 /home/alice/.config /home/alice/.config/signet
            """)
    }

    /// Starts alice's agent; it listens when this returns.
    func startAgent(_ options: String...) throws -> Program {
        let agent = try host.start(
            ["signet-agent", "-a", Self.socket] + options, as: HostFixture.alice,
            in: .manager(of: HostFixture.alice))
        try agent.expect("SSH_AUTH_SOCK=\(Self.socket);")
        return agent
    }

    /// Writes alice's agent.conf.
    func configure(_ lines: String...) throws {
        let path = "/home/alice/.config/signet/agent.conf"
        try host.write(path, (["[agent]"] + lines).joined(separator: "\n") + "\n")
        try signet.shell("chown alice:alice \(path)")
    }

    /// alice makes a key with her finger, and gives it to the server.
    func makeKey() throws {
        let terminal = try host.terminal(
            ["signet", "ssh", "new", "--agent", "plain"], as: HostFixture.alice)
        try terminal.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        try terminal.expect("\r\nappend this line to ~/.ssh/authorized_keys")
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        try ssh.aliceDoes(
            """
            signet ssh public plain >~/.ssh/plain.pub
            cat ~/.ssh/plain.pub >>~/.ssh/authorized_keys; chmod 600 ~/.ssh/authorized_keys
            """)
    }

    /// A file key of alice's that the server accepts, too.
    func makeFileKey(_ name: String = "file") throws {
        try ssh.aliceDoes(
            """
            ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/\(name)
            cat ~/.ssh/\(name).pub >>~/.ssh/authorized_keys; chmod 600 ~/.ssh/authorized_keys
            """)
    }

    /// alice's terminal with ssh to the server, with the agent alone or these files as well.
    func login(
        _ command: String = "echo logged in", _ options: String..., identities: [String] = []
    ) throws -> Terminal {
        try host.terminal(
            [
                "unshare", "--net", "beside-sshd", "env", "SSH_AUTH_SOCK=\(Self.socket)", "ssh",
                "-tt",
            ]
                + ["-F", "none", "-o", "UserKnownHostsFile=/run/hosts"]
                + ["-o", "StrictHostKeyChecking=yes", "-o", "PasswordAuthentication=no"]
                + identities.flatMap { ["-i", $0] } + options + ["alice@127.0.0.1", command],
            as: HostFixture.root, in: .session(of: HostFixture.alice))
    }

    /// Runs a shell's line as alice with the agent, to its end.
    func alice(
        _ line: String, in place: FixturePlace? = nil, socket: String = socket
    ) throws -> Outcome {
        try host.run(
            ["sh", "-c", line], as: HostFixture.alice, in: place,
            environment: ["SSH_AUTH_SOCK": socket])
    }

    /// A shell's line as alice with the agent, on a new terminal.
    func terminal(_ line: String) throws -> Terminal {
        try host.terminal(
            ["sh", "-c", line], as: HostFixture.alice,
            environment: ["SSH_AUTH_SOCK": Self.socket])
    }

    /// alice touches the reader until the daemon has signed, where no program shows when the reader
    /// waits.
    func touchUnseen() {
        signet.touchBlindly(Touch.alice) { decisions("allow") > 0 }
    }

    /// How many signatures by the agent's keys were decided so.
    func decisions(_ decision: String) -> Int {
        host.journal.entries.count {
            $0["SIGNET_VERB"] == "sshAgentSign" && $0["SIGNET_DECISION"] == decision
        }
    }

    /// Waits for the journal's entry about a signature, and returns its purpose.
    func purpose() throws -> String {
        let entry = try host.journal.expect("a decision about a signature") {
            $0["SIGNET_VERB"] == "sshAgentSign" && $0["SIGNET_DECISION"] == "allow"
        }
        return entry["SIGNET_PURPOSE"] ?? ""
    }
}
