// SPDX-License-Identifier: Apache-2.0
/// A list of names: `name` lets in, `!name` keeps out, and keeping out wins.
///
/// Where nothing lets in by name, every name that is not kept out is let in.
package struct NameList: Equatable, Sendable {
    /// The names that are let in; empty for all.
    package let allowed: Set<String>
    /// The names that are kept out.
    package let denied: Set<String>

    /// From the words of a setting.
    package init(_ words: [String]) {
        allowed = Set(words.filter { !$0.hasPrefix("!") })
        denied = Set(words.filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) })
    }

    /// Whether any of the names of one thing lets it in, and none keeps it out.
    package func admits(_ names: Set<String>) -> Bool {
        denied.isDisjoint(with: names) && (allowed.isEmpty || !allowed.isDisjoint(with: names))
    }

    /// Whether a word of a setting is a name, with or without `!` in front.
    static func isEntry(_ word: String) -> Bool {
        let name = word.utf8.first == UInt8(ascii: "!") ? word.utf8.dropFirst() : word.utf8[...]
        guard (1...256).contains(name.count) else { return false }
        return !name.contains { $0 <= 0x20 || $0 == 0x7F || "!:/".utf8.contains($0) }
    }
}

/// For which accounts and services fingerprint login is there at all, as the administrator says.
///
/// Each list has to let in: what one keeps out, no other lets in again.
package struct LoginLists: Sendable {
    private let services: NameList
    private let accounts: NameList
    private let groups: NameList

    /// The lists of a configuration.
    package init(_ settings: Configuration) {
        services = NameList(settings.words(Settings.loginServices))
        accounts = NameList(settings.words(Settings.loginAccounts))
        groups = NameList(settings.words(Settings.loginGroups))
    }

    /// The services that are named.
    package var serviceNames: Set<String> { services.allowed.union(services.denied) }

    /// The accounts that are kept out.
    package var deniedAccountNames: Set<String> { accounts.denied }

    /// The groups that keep out.
    package var deniedGroupNames: Set<String> { groups.denied }

    /// The accounts that are named.
    package var accountNames: Set<String> { accounts.allowed.union(accounts.denied) }

    /// The groups of which it has to be known whether the account is in them.
    package var groupNames: Set<String> { groups.allowed.union(groups.denied) }

    /// The setting that keeps an account out, nil where none does; `memberships` are those of
    /// `groupNames` that it is in, nil if that cannot be found out. Uid 0 is root by any name.
    package func exclusion(
        account: String, uid: UInt32, memberships: Set<String>?
    ) -> Setting? {
        guard accounts.admits(uid == 0 ? [account, "root"] : [account]) else {
            return Settings.loginAccounts
        }
        guard !groupNames.isEmpty else { return nil }
        guard let memberships, groups.admits(memberships) else { return Settings.loginGroups }
        return nil
    }

    /// The setting that keeps a service out, nil where none does.
    package func exclusion(service: String) -> Setting? {
        services.admits([service]) ? nil : Settings.loginServices
    }
}
