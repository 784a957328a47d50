// SPDX-License-Identifier: Apache-2.0
/// A list of names to allow (`name`) and deny (`!name`). A denied name overrides allowed ones.
///
/// If the list contains no allowed name, every name that is not denied is allowed.
package struct NameList: Equatable, Sendable {
    /// The allowed names; empty for all.
    package let allowed: Set<String>
    /// The denied names.
    package let denied: Set<String>

    /// Creates a list from the words of a setting.
    package init(_ words: [String]) {
        allowed = Set(words.filter { !$0.hasPrefix("!") })
        denied = Set(words.filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) })
    }

    /// Whether the list allows something that has these names: none is denied, and one is allowed.
    package func admits(_ names: Set<String>) -> Bool {
        denied.isDisjoint(with: names) && (allowed.isEmpty || !allowed.isDisjoint(with: names))
    }

    /// Whether a word is a valid entry: a name, with or without `!` in front.
    static func isEntry(_ word: String) -> Bool {
        let name = word.utf8.first == UInt8(ascii: "!") ? word.utf8.dropFirst() : word.utf8[...]
        guard (1...256).contains(name.count) else { return false }
        return !name.contains { $0 <= 0x20 || $0 == 0x7F || "!:/".utf8.contains($0) }
    }
}

/// The administrator's lists of accounts, groups and services with fingerprint login.
///
/// An account or service must be allowed by every list; what one list denies, no other can allow.
package struct LoginLists: Sendable {
    private let services: NameList
    private let accounts: NameList
    private let groups: NameList

    /// Creates the lists from a configuration.
    package init(_ settings: Configuration) {
        services = NameList(settings.words(Settings.loginServices))
        accounts = NameList(settings.words(Settings.loginAccounts))
        groups = NameList(settings.words(Settings.loginGroups))
    }

    /// The services that are named in the list.
    package var serviceNames: Set<String> { services.allowed.union(services.denied) }

    /// The accounts that are denied.
    package var deniedAccountNames: Set<String> { accounts.denied }

    /// The groups whose members are denied.
    package var deniedGroupNames: Set<String> { groups.denied }

    /// The accounts that are named in the list.
    package var accountNames: Set<String> { accounts.allowed.union(accounts.denied) }

    /// The groups whose membership must be known for a decision.
    package var groupNames: Set<String> { groups.allowed.union(groups.denied) }

    /// Returns the setting that denies an account; nil if none does.
    ///
    /// - Parameters:
    ///   - account: The account's name. Uid 0 counts as root whatever its name.
    ///   - memberships: Those of `groupNames` that the account belongs to; nil if that is unknown,
    ///     which denies the account if the list of groups is not empty.
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

    /// Returns the setting that denies a service; nil if none does.
    package func exclusion(service: String) -> Setting? {
        services.admits([service]) ? nil : Settings.loginServices
    }
}
