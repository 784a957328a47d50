// SPDX-License-Identifier: Apache-2.0
import Gate
import Glibc
import Posix
import Sealing
import StateSupport
import TestSupport

/// Secrets of 64 KB: sealed under a key that a vault seals.
struct SecretSection {
    let workshop: Workshop
    private let runs = 30
    private static let size = 65_536

    init(workshop: Workshop) {
        self.workshop = workshop
    }

    /// Measures the sealing in this process, then `signet secret`, and prints the tables.
    func run() throws {
        let tpm = try SoftwareTPM()
        let times = try VaultTimes()
        print("| 64 KB, in one process | set | get |")
        print("|---|---|---|")
        try show("file vault", times.fileVault(), times)
        try show("TPM vault (swtpm)", try times.tpmVault(tpm.tcti), times)
        print()
        print("| 64 KB, signet secret | set, whole process | get, touch to end of process |")
        print("|---|---|---|")
        try showVerbs("file vault", .file)
        try showVerbs("TPM vault (swtpm)", .tpm)
    }

    private func show(_ name: String, _ vault: any Vault, _ times: VaultTimes) throws {
        let context = times.context
        let secret = try SecretBytes.random(Self.size)
        let touch = try PlayedTouch.of(context.uid)
        var (set, get) = (Samples(), Samples())
        for _ in 0..<runs {
            let sealed = try set.time {
                try SealedContent.seal(secret, context: context, by: vault)
            }
            let data = try vault.ready(data: sealed.key, context: context)
            let opened = try get.time {
                try SealedContent.open(
                    sealed.content, key: try data.open(context, for: touch.match), context: context)
            }
            data.release()
            guard opened.equals(secret) else { throw BenchFault.unexpected("another secret") }
        }
        print("| \(name) | \(set.text(.milliseconds)) | \(get.text(.milliseconds)) |")
    }

    // MARK: The whole verb

    private func showVerbs(_ name: String, _ vault: LoginSite.Vault) throws {
        let verbs = SecretVerbs(site: try LoginSite(workshop, vault))
        let content = String(repeating: "0123456789abcde\n", count: Self.size / 16)
        var (set, get) = (Samples(), Samples())
        for _ in 0..<runs {
            try set.time { try verbs.keep(content) }
            let touched = try verbs.release(content)
            get.take { Double(monotonicNow() - touched) / 1e6 }
        }
        print("| \(name) | \(set.text(.milliseconds)) | \(get.text(.milliseconds)) |")
    }
}

/// `signet secret` as alice uses it.
struct SecretVerbs {
    let site: LoginSite
    private static let name = "bench"
    private static let signet = "\(Layout.package)/build/signet"

    init(site: LoginSite) {
        self.site = site
    }

    /// Keeps up to 64 KB of text, in the place of what was kept before.
    func keep(_ content: String) throws {
        let outcome = try site.host.run(
            [Self.signet, "secret", "set", Self.name, "--replace"], as: HostFixture.alice,
            input: content)
        guard outcome.succeeded else { throw BenchFault.unexpected(outcome.errors) }
    }

    /// Has it released, which must give this text; returns CLOCK_MONOTONIC (ns) of the touch.
    @discardableResult
    func release(_ content: String, beforeTouch act: () -> Void = {}) throws -> Int64 {
        let program = try site.host.start(
            [Self.signet, "secret", "get", Self.name], as: HostFixture.alice)
        try program.expectError("the reader")
        usleep(Probe.reactionMicroseconds)
        act()
        let touched = try site.peer.touch()
        let outcome = try program.expectEnd()
        guard outcome.output == content else { throw BenchFault.unexpected(outcome.errors) }
        return touched
    }
}
