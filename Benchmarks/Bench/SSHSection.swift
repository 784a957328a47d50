// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// A login by ssh with a key of Signet's, against one with a file key in ssh-agent.
///
/// The finger is put on the reader as soon as ssh says that it is awaited, so what is left of the
/// difference is what Signet adds beyond the touch. The server is a real sshd, which each client
/// starts for itself, in both cases alike.
struct SSHSection {
    let workshop: Workshop
    private let runs = 50

    private static let provider = "/usr/local/lib/signet/libsk-signet.so"
    private static let home = "/home/alice"
    private static let agentSocket = "/home/alice/agent"

    init(workshop: Workshop) {
        self.workshop = workshop
    }

    /// Measures both, in turns, and prints the table.
    func run() throws {
        let host = try HostFixture(programs: try Built.programs())
        try host.install("\(workshop.directory)/on-demand", at: SignetPeer.activator)
        let peer = try SignetPeer(on: host)
        try prepare(host)
        try makeKey(on: host, peer)
        let agent = try host.terminal(
            ["ssh-agent", "-D", "-a", Self.agentSocket], as: HostFixture.alice)
        defer { agent.signal(SIGKILL) }
        try awaitFile(host.path(Self.agentSocket))
        let loaded = try host.run(
            ["ssh-add", "-q", Self.home + "/file"], as: HostFixture.alice,
            environment: ["SSH_AUTH_SOCK": Self.agentSocket])
        guard loaded.succeeded else { throw BenchFault.unexpected("ssh-add: \(loaded.errors)") }
        var (own, other) = (Samples(), Samples())
        // The first of each loads what is not in memory yet.
        for run in 0...runs {
            let both = (
                try milliseconds { try loginByTouch(on: host, peer) },
                try milliseconds { try loginByAgent(on: host) }
            )
            guard run > 0 else { continue }
            own.take { both.0 }
            other.take { both.1 }
        }
        let added = (own.median ?? 0) - (other.median ?? 0)
        print("| figure | ssh-agent, file key | signet, touched at once | added |")
        print("|---|---|---|---|")
        print(
            "| ssh to an sshd and back | \(other.text(.milliseconds)) |",
            "\(own.text(.milliseconds)) | \(Unit.milliseconds.text(added)) (aim 15 ms) |")
    }

    private func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = monotonicNow()
        try body()
        return Double(monotonicNow() - start) / 1e6
    }

    /// A server that alice's ssh starts as its peer, and her key in a file.
    private func prepare(_ host: HostFixture) throws {
        try host.run(["mkdir", "-p", "-m", "755", "/usr/local/lib/signet"])
        try host.install(Built.sshProvider(), at: Self.provider, mode: 0o644)
        let made = try host.run(
            [
                "sh", "-c",
                """
                cd \(Self.home) && ssh-keygen -q -t ed25519 -N '' -f host
                ssh-keygen -q -t ed25519 -N '' -f file && cp file.pub keys
                printf 'server ' | cat - host.pub >known
                cat >config <<END
                HostKey \(Self.home)/host
                AuthorizedKeysFile \(Self.home)/keys
                StrictModes no
                UsePAM no
                END
                """,
            ], as: HostFixture.alice)
        guard made.succeeded else { throw BenchFault.unexpected("\(made.errors)") }
    }

    private func makeKey(on host: HostFixture, _ peer: SignetPeer) throws {
        let terminal = try host.terminal(
            [
                "ssh-keygen", "-q", "-t", "ecdsa-sk", "-w", Self.provider, "-N", "", "-f",
                Self.home + "/touch",
            ], as: HostFixture.alice)
        try terminal.expect(SignetFixture.invitation)
        _ = try peer.touch()
        try expectSuccess(terminal)
        let kept = try host.run(
            ["sh", "-c", "cd \(Self.home) && cat touch.pub >>keys"], as: HostFixture.alice)
        guard kept.succeeded else { throw BenchFault.unexpected("\(kept.errors)") }
    }

    private func ssh(
        _ key: String, on host: HostFixture, environment: [String: String]
    ) throws -> Terminal {
        try host.terminal(
            ["ssh", "-F", "none", "-o", "ProxyCommand=/usr/sbin/sshd -i -f \(Self.home)/config"]
                + ["-o", "UserKnownHostsFile=\(Self.home)/known", "-o", "IdentitiesOnly=yes"]
                + ["-o", "SecurityKeyProvider=\(Self.provider)", "-i", "\(Self.home)/\(key)"]
                + ["alice@server", "true"], as: HostFixture.alice, environment: environment)
    }

    private func loginByTouch(on host: HostFixture, _ peer: SignetPeer) throws {
        let terminal = try ssh("touch", on: host, environment: [:])
        try terminal.expect(SignetFixture.invitation)
        _ = try peer.touch()
        try expectSuccess(terminal)
    }

    private func loginByAgent(on host: HostFixture) throws {
        try expectSuccess(
            try ssh("file.pub", on: host, environment: ["SSH_AUTH_SOCK": Self.agentSocket]))
    }

    private func expectSuccess(_ terminal: Terminal) throws {
        let ending = try terminal.expectEnd()
        guard ending == .exited(0) else {
            throw BenchFault.unexpected("\(ending): \(terminal.transcript)")
        }
    }
}
