// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol

/// Checks whether the stacks accept the passwords of accounts that come from sssd.
struct DirectoryCheck {
    let machine: Machine
    let stacks: ServiceStacks

    /// The finding on services that cannot check the passwords of sssd's accounts, if such accounts
    /// exist.
    ///
    /// Only accounts that Signet stores something for are considered.
    func findings() -> [Finding] {
        guard usesSSSD else { return [] }
        let services = stacks.localOnly
        let local = Set(machine.files.table("/etc/passwd").compactMap { $0.first.map(String.init) })
        guard !services.isEmpty, !local.isEmpty else { return [] }
        let accounts = machine.accounts().names.map { String(decoding: $0, as: UTF8.self) }
        let foreign = accounts.filter { !local.contains($0) }
        guard !foreign.isEmpty else { return [] }
        return [Self.missing(ServiceStacks.list(services), accounts: ServiceStacks.list(foreign))]
    }

    /// Whether accounts of a directory come from sssd alone: it is configured, and no other source
    /// is used.
    private var usesSSSD: Bool {
        let files = machine.files
        let isConfigured =
            files.exists("/etc/sssd/sssd.conf")
            || files.names("/etc/sssd/conf.d").contains { $0.hasSuffix(".conf") }
        guard isConfigured else { return false }
        for line in files.lines("/etc/nsswitch.conf") {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard words.first == "passwd:" else { continue }
            let others: Set<Substring> = ["ldap", "winbind", "nis", "extrausers", "db"]
            return words.contains("sss") && others.isDisjoint(with: words)
        }
        return false
    }

    /// The stack checks only local passwords, but some accounts come from sssd.
    private static func missing(_ services: Bytes, accounts: Bytes) -> Finding {
        Finding(
            "directory-password-missing", level: .warning, area: .stacks, subject: accounts,
            what: "\(services): the passwords of these sssd accounts are not checked: \(accounts)",
            why: """
                the stack checks only the passwords in this machine's own files: without a finger, \
                these accounts are locked out. Put pam_sss after pam_unix
                """,
            mend: "pam-auth-update --enable sss")
    }
}
