import Glibc
import Posix
import TestSupport
import Vault

/// Secrets of 64 KB: sealed under a key that a vault seals.
struct SecretSection {
    let workshop: Workshop
    private let runs = 30
    private static let size = 65_536
    private static let name = "bench"
    private static let signet = "\(Layout.package)/build/signet"

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
        var (set, get) = (Samples(), Samples())
        for _ in 0..<runs {
            let sealed = try set.time { try SealedContent.seal(secret, context, by: vault) }
            let data = try vault.ready(data: sealed.key, context)
            let opened = try get.time {
                try SealedContent.open(sealed.content, key: try data.open(context), context)
            }
            data.release()
            guard opened.equals(secret) else { throw BenchFault.unexpected("another secret") }
        }
        print("| \(name) | \(set.text(.milliseconds)) | \(get.text(.milliseconds)) |")
    }

    // MARK: The whole verb

    private func showVerbs(_ name: String, _ vault: LoginSite.Vault) throws {
        let site = try LoginSite(workshop, vault)
        guard try site.stage.run([Self.signet, "help"]).output.contains("secret set") else {
            return print("| \(name) | this build has no 'signet secret' | |")
        }
        let content = String(repeating: "0123456789abcde\n", count: Self.size / 16)
        var (set, get) = (Samples(), Samples())
        for _ in 0..<runs {
            try set.time { try keep(content, at: site) }
            get.take { try release(content, at: site) }
        }
        print("| \(name) | \(set.text(.milliseconds)) | \(get.text(.milliseconds)) |")
    }

    private func keep(_ content: String, at site: LoginSite) throws {
        let outcome = try site.stage.run(
            [Self.signet, "secret", "set", Self.name, "--replace", "--account", "alice"],
            input: content)
        guard outcome.succeeded else { throw BenchFault.unexpected(outcome.errors) }
    }

    private func release(_ content: String, at site: LoginSite) throws -> Double {
        let program = try site.stage.start(
            [Self.signet, "secret", "get", Self.name], as: Stage.alice)
        try program.expectError("the reader")
        usleep(Probe.reactionMicroseconds)
        let touched = try site.peer.touch()
        let outcome = try program.expectEnd()
        let ended = monotonicNow()
        guard outcome.output == content else { throw BenchFault.unexpected(outcome.errors) }
        return Double(ended - touched) / 1e6
    }
}
