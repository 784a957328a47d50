// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginProtocol

/// Problems in how stacks and the name service work together.
extension Machine {
    /// Services that cannot ask for the password of accounts from sssd, if there are such accounts.
    ///
    /// Only accounts that Signet stores something for are considered.
    func directoryFindings(_ examination: StackExamination) -> [Finding] {
        guard usesSSSD else { return [] }
        let services = examination.localOnly
        let local = Set(firstFields(of: "/etc/passwd"))
        guard !services.isEmpty, !local.isEmpty else { return [] }
        let accounts = accounts().names.map { String(decoding: $0, as: UTF8.self) }
        let foreign = accounts.filter { !local.contains($0) }
        guard !foreign.isEmpty else { return [] }
        return [
            .directoryPasswordMissing(
                services: StackExamination.list(services), accounts: StackExamination.list(foreign))
        ]
    }

    /// Whether directory accounts come from sssd alone: it is configured, and no other source is
    /// used.
    private var usesSSSD: Bool {
        let isConfigured =
            look("/etc/sssd/sssd.conf") != nil
            || names("/etc/sssd/conf.d").contains { $0.hasSuffix(".conf") }
        guard isConfigured else { return false }
        for line in (text("/etc/nsswitch.conf") ?? "").split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard words.first == "passwd:" else { continue }
            let others: Set<Substring> = ["ldap", "winbind", "nis", "extrausers", "db"]
            return words.contains("sss") && others.isDisjoint(with: words)
        }
        return false
    }

    /// fprintd's profiles in pam-auth-update, if pam_signet is used as well.
    func profileFindings(_ examination: StackExamination) -> [Finding] {
        guard !examination.using.isEmpty else { return [] }
        let enabled = (text("/var/lib/pam/auth") ?? "").split(separator: "\n")
        return ["fprintd", "fprint"].filter { enabled.contains("Module: \($0)") }
            .map { .fprintdProfile($0.bytes) }
    }
}
