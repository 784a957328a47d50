// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// Real ssh-keygen under `signet ssh allow`.
@Suite("a command whose ssh signatures one touch allows", .timeLimit(.minutes(5)))
struct SSHAllowanceTests {
    private let ssh: SSHFixture
    private var signet: SignetFixture { ssh.signet }
    private var host: HostFixture { ssh.host }

    init() throws {
        ssh = try SSHFixture()
        try signet.shell("mkdir -p /etc/signet/signet.conf.d")
        try host.write("/etc/signet/signet.conf.d/grants.conf", "[ssh]\ngrants = allow\n")
        try signet.stop()
        try signet.start()
        try ssh.makeKey()
    }

    /// Has a command allowed by a touch, on a terminal of alice's.
    private func allowed(
        _ command: String, signatures: Int = 2, destination: String = "namespace:file"
    ) throws -> Terminal {
        let terminal = try ssh.alice(
            """
            echo x >a && cp a b && cp a c
            signet ssh allow --signatures \(signatures) ssh \(destination) -- sh -c '\(command)'
            """)
        try terminal.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        return terminal
    }

    private static func sign(_ file: String, namespace: String = "file") -> String {
        "ssh-keygen -q -Y sign -f ~/.ssh/id_ecdsa_sk -n \(namespace) \(file)"
    }

    private var signed: Int {
        host.journal.entries.count {
            $0["SIGNET_VERB"] == "sshSign" && $0["SIGNET_DECISION"] == "allow"
        }
    }

    @Test("makes as many as allowed without a touch, and then needs one for each")
    func counts() throws {
        let terminal = try allowed(
            ["a", "b", "c"].map { Self.sign($0) }.joined(separator: " && "))
        // The third asks for a touch.
        try terminal.expect(SignetFixture.invitation)
        #expect(signed == 2)
        try signet.touch(Touch.alice)
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        let log = try host.run(["signet", "log"], as: HostFixture.alice)
        #expect(log.output.contains("allow 2 ssh signatures in 60 s for namespace:file"))
        #expect(log.output.contains("2 of 2 that a touch has allowed"), "\(log.output)")
        try ssh.aliceDoes("{ printf 'alice '; cat ~/.ssh/id_ecdsa_sk.pub; } >signers")
        for file in ["a", "b", "c"] {
            try ssh.aliceDoes(
                "ssh-keygen -Y verify -f signers -I alice -n file -s \(file).sig <\(file)")
        }
    }

    @Test("covers no other namespace, and nothing that it has not started")
    func outside() throws {
        let terminal = try allowed(
            "echo begun; read line; " + Self.sign("b", namespace: "git"), signatures: 9)
        try terminal.expect("begun")
        // Another process tree of alice's.
        let other = try ssh.alice(Self.sign("a"))
        try other.expect(SignetFixture.invitation)
        #expect(signed == 0)
        try signet.touch(Touch.bob)
        try other.expect("the finger did not match")
        // The reader waits again only when it has been said.
        for _ in 0..<2 {
            try other.expect(SignetFixture.invitation)
            try signet.touch(Touch.bob)
        }
        #expect(try other.expectEnd() != .exited(0))
        try terminal.sendLine("")
        try terminal.expect(SignetFixture.invitation)
        #expect(signed == 0)
        try signet.touch(Touch.alice)
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
    }

    @Test("ends with the command, whose failure it passes on")
    func ends() throws {
        let failed = try allowed("exit 3", signatures: 9)
        #expect(try failed.expectEnd() == .exited(1), "\(failed.transcript)")
        let after = try ssh.alice(Self.sign("a"))
        try after.expect(SignetFixture.invitation)
        #expect(signed == 0)
        try signet.touch(Touch.alice)
        #expect(try after.expectEnd() == .exited(0))
    }

    @Test("logs in at the host key that it names, where the server demands no verified user")
    func login() throws {
        try signet.shell("sed -i '/verify-required/d' /etc/ssh/sshd_config")
        let print = try signet.shell("ssh-keygen -lf /etc/ssh/host.pub | cut -d' ' -f2").dropLast()
        let options =
            "-F none -o UserKnownHostsFile=/run/hosts -o IdentitiesOnly=yes "
            + "-o SecurityKeyProvider=\(SSHFixture.provider) -i \(SSHFixture.key)"
        let line = "ssh \(options) alice@127.0.0.1 echo logged in"
        let terminal = try host.terminal(
            [
                "unshare", "--net", "beside-sshd", "signet", "ssh", "allow", "ssh", String(print),
                "--", "sh", "-c", "\(line) && \(line)",
            ], as: HostFixture.root)
        try terminal.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        #expect(
            terminal.transcript.split(separator: "logged in", omittingEmptySubsequences: false)
                .count == 3)
        #expect(signed == 2)
    }

    @Test("is refused where no administrator has allowed it")
    func off() throws {
        try signet.shell("rm /etc/signet/signet.conf.d/grants.conf")
        try signet.stop()
        try signet.start()
        let refused = try host.run(
            ["signet", "ssh", "allow", "ssh", "namespace:file", "--", "true"],
            as: HostFixture.alice)
        #expect(!refused.succeeded && refused.errors.contains("ssh.grants = allow"))
    }
}
