// SPDX-License-Identifier: Apache-2.0
import Configuration

/// The administrator's lists of accounts, groups and services with fingerprint login.
///
/// Every list must allow the login: an account or service that one list denies cannot be allowed by
/// another. The lists are the settings `login.accounts`, `login.groups` and `login.services`; see
/// `NameList` for their syntax.
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

    /// The services that the list names, allowed or denied.
    package var serviceNames: Set<String> { services.allowed.union(services.denied) }

    /// The groups whose members are denied.
    package var deniedGroupNames: Set<String> { groups.denied }

    /// The groups whose members are allowed.
    package var allowedGroupNames: Set<String> { groups.allowed }

    /// Whether the list of accounts names root, allowed or denied.
    package var namesRoot: Bool { accountNames.contains("root") }

    /// Whether the list denies an account by this name.
    package func deniesAccount(named name: String) -> Bool { accounts.denied.contains(name) }

    /// The accounts that the list names, allowed or denied.
    package var accountNames: Set<String> { accounts.allowed.union(accounts.denied) }

    /// The groups that the list names, whose membership must be known to decide about an account.
    package var groupNames: Set<String> { groups.allowed.union(groups.denied) }

    /// Returns the setting that denies an account; nil if none does.
    ///
    /// - Parameters:
    ///   - account: The account's name. Uid 0 also counts as `root`, whatever its name is.
    ///   - spellings: Those among `accountNames` that the name service takes for the account, too;
    ///     nil if they are unknown, which denies the account.
    ///   - memberships: The groups among `groupNames` that the account belongs to; nil if they are
    ///     unknown, which denies the account unless the list of groups is empty.
    package func exclusion(
        account: String, uid: UInt32, spellings: Set<String>? = [], memberships: Set<String>?
    ) -> Setting? {
        let own: Set<String> = uid == 0 ? [account, "root"] : [account]
        guard let spellings, accounts.admits(own.union(spellings)) else {
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
