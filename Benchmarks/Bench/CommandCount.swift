// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// What the TPM is asked for between a touch and the signature.
enum CommandCount {
    /// In one login.
    static func login(at site: LoginSite) throws -> String {
        // The first makes what is made once.
        _ = try site.login()
        let probe = try Probe(
            on: site.host, service: site.peer.service, account: HostFixture.alice,
            environment: try site.peer.arrange(.running))
        try probe.waitForPrompt(of: site.peer)
        site.bus?.forget()
        _ = try site.peer.touch()
        _ = try probe.finish().returned(success: true)
        return try heard(at: site)
    }

    /// In one login that opens the keyring too; nil where this build knows no keyring.
    static func keyringLogin(at site: LoginSite) throws -> String? {
        let signet = "\(Layout.package)/build/signet"
        let help = try site.host.run([signet, "help", "enable"])
        guard help.output.contains("--keyring") else { return nil }
        try site.host.install("\(Layout.package)/pam/signet", at: "/etc/pam.d/signet", mode: 0o644)
        let enabled = try site.host.run(
            [signet, "enable", "--keyring", "--password-stdin"], as: HostFixture.alice,
            input: HostFixture.alice.password + "\n")
        guard enabled.succeeded else { throw BenchFault.unexpected(enabled.errors) }
        return try login(at: site)
    }

    /// In one release of a secret.
    static func secret(at site: LoginSite) throws -> String {
        let verbs = SecretVerbs(site: site)
        let content = "a secret"
        try verbs.keep(content)
        try verbs.release(content) { site.bus?.forget() }
        return try heard(at: site)
    }

    /// The commands up to the last one that signs or opens; what follows gives back.
    private static func heard(at site: LoginSite) throws -> String {
        let codes = site.bus?.exchanges.map(\.code) ?? []
        guard let last = codes.lastIndex(where: { $0 == .sign || $0 == .unseal }) else {
            throw BenchFault.unexpected("nobody heard a signature: \(codes)")
        }
        let asked = codes[...last].map(\.description)
        return "\(asked.count) (\(asked.joined(separator: ", ")))"
    }
}
