// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// Clients with no code of OpenSSH or Signet: Debian's paramiko, asyncssh, and Go's x/crypto.
@Suite("Other ssh clients with signet-agent", .timeLimit(.minutes(5)))
struct SSHClientTests {
    private let fixture: SSHAgentFixture

    init() throws {
        fixture = try SSHAgentFixture()
        try fixture.makeKey()
    }

    private static let scripts = Layout.package + "/Tests/HostFixture/ssh-clients/"

    /// Runs a client as alice beside the sshd: it lists the key, and logs in by touch.
    private func expectLogin(_ client: [String]) throws {
        let agent = try fixture.startAgent()
        let terminal = try fixture.host.terminal(
            ["unshare", "--net", "beside-sshd", "env", "SSH_AUTH_SOCK=\(SSHAgentFixture.socket)"]
                + client, as: HostFixture.root, in: .session(of: HostFixture.alice))
        fixture.touchUnseen()
        try terminal.expect("logged in")
        #expect(try terminal.expectEnd() == .exited(0), "\(terminal.transcript)")
        #expect(terminal.transcript.contains("key ecdsa-sha2-nistp256"), "\(terminal.transcript)")
        #expect(try fixture.purpose().hasPrefix("ssh alice (host key not stated), for "))
        agent.signal(15)
    }

    @Test("paramiko logs in")
    func paramiko() throws {
        try expectLogin(["python3", Self.scripts + "with-paramiko.py"])
    }

    @Test("asyncssh logs in")
    func asyncssh() throws {
        try expectLogin(["python3", Self.scripts + "with-asyncssh.py"])
    }

    @Test("Go's x/crypto logs in, and gets no signature for other data")
    func golang() throws {
        let scratch = try Scratch()
        // Debian has x/crypto as sources below GOPATH, without modules.
        let built = try Program(
            Command(
                ["go", "build", "-o", scratch.at("client"), Self.scripts + "with-go.go"],
                environment: [
                    "GO111MODULE": "off", "GOPATH": "/usr/share/gocode",
                    "GOCACHE": Layout.package + "/.build/go", "GOFLAGS": "-p=1",
                    "PATH": "/usr/bin:/bin",
                ])
        ).expectEnd(within: .seconds(240))
        try #require(built.succeeded, "\(built.errors)")
        try fixture.host.install(scratch.at("client"), at: "/usr/local/bin/go-client", mode: 0o755)
        try expectLogin(["go-client"])
        withExtendedLifetime(scratch) {}
    }
}
