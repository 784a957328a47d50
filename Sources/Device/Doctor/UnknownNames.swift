// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Authorization
import CommandMessages
import Configuration
import LoginMessages
import LoginProtocol

/// A name in a list of the configuration that matches nothing on this machine.
///
/// It is the name of a service, account or group that does not exist, or a name that no systemd
/// unit can have.
package struct UnknownName: Equatable, Sendable {
    /// The kind of thing that the name should refer to.
    package enum Kind: Equatable, Sendable {
        case service, account, group, emptyGroup, keyringService, consoleUnit, displayManager
    }

    /// The kind of thing that the name should refer to.
    package let kind: Kind
    /// The name, without a leading `!`.
    package let name: String
    /// Whether the entry is a group whose members are excluded.
    package let isDenied: Bool
    /// An existing name that may have been intended; nil if none is similar.
    package let nearest: String?

    /// The setting that holds the list.
    package var setting: Setting {
        switch kind {
        case .service: Settings.loginServices
        case .account: Settings.loginAccounts
        case .group, .emptyGroup: Settings.loginGroups
        case .keyringService: Settings.keyringServices
        case .consoleUnit: Settings.loginConsoleUnits
        case .displayManager: Settings.loginDisplayManagers
        }
    }

    /// The message that describes the entry.
    package var text: Text {
        let (list, bytes) = (setting.name.bytes, name.bytes)
        let near = nearest?.bytes
        switch kind {
        case .service, .keyringService:
            return UnknownNameText.unknownService(list, name: bytes, nearest: near)
        case .account: return UnknownNameText.unknownAccount(list, name: bytes, nearest: near)
        case .group: return UnknownNameText.unknownGroup(list, name: bytes, nearest: near)
        case .emptyGroup: return UnknownNameText.emptyGroup(list, name: bytes)
        case .consoleUnit, .displayManager:
            return UnknownNameText.notUnit(list, name: bytes, nearest: near)
        }
    }
}

/// Finds the names in the configuration's lists that match nothing on this machine.
///
/// They are mistakes, or refer to something that does not exist yet. If the name service cannot
/// tell, a name counts as known. With a default list, or if `other` requests a touch, services are
/// not examined as they would give false findings.
struct UnknownNames {
    let files: MachineFiles
    let nameService: NameService
    let stacks: ServiceStacks

    func all(_ configuration: Configuration) -> [UnknownName] {
        let lists = LoginLists(configuration)
        let accounts = lists.accountNames.filter(nameService.lacksAccount)
        let groups = lists.groupNames.filter(nameService.lacksGroup)
        return services(lists, configuration: configuration)
            + unknown(accounts, kind: .account, in: "/etc/passwd")
            + unknown(groups, kind: .group, denied: lists.deniedGroupNames, in: "/etc/group")
            + emptyGroups(lists.allowedGroupNames.subtracting(groups))
            + units(configuration, setting: Settings.loginConsoleUnits, kind: .consoleUnit)
            + units(configuration, setting: Settings.loginDisplayManagers, kind: .displayManager)
    }

    private func services(_ lists: LoginLists, configuration: Configuration) -> [UnknownName] {
        // The default names the services of many programs, most of which a machine does not have.
        let keyring = Set(
            configuration.isDefault(Settings.keyringServices)
                ? [] : configuration.words(Settings.keyringServices))
        // For a service without its own stack, libpam uses 'other'.
        guard !stacks.services.isEmpty, !stacks.servesOthers else { return [] }
        func unknown(_ names: Set<String>, kind: UnknownName.Kind) -> [UnknownName] {
            names.subtracting(stacks.files.names).sorted().map { name in
                UnknownName(
                    kind: kind, name: name, isDenied: false,
                    nearest: name.nearest(among: stacks.services))
            }
        }
        return unknown(lists.serviceNames, kind: .service) + unknown(keyring, kind: .keyringService)
    }

    /// Allowed groups of this machine to which none of its accounts belongs that could log in.
    ///
    /// A group that a directory knows may have members there, and so may any group if accounts come
    /// from elsewhere.
    private func emptyGroups(_ names: Set<String>) -> [UnknownName] {
        guard files.accountsAreLocal else { return [] }
        let accounts = files.table("/etc/passwd").filter { fields in
            guard fields.count > 3, let uid = UInt32(fields[2]) else { return false }
            return uid == 0 || (1_000...59_999).contains(uid)
        }
        let people = Set(accounts.compactMap { $0.first.map(String.init) })
        let groups = files.table("/etc/group").filter { $0.count > 3 }
        return names.sorted().compactMap { name in
            guard let group = groups.first(where: { $0[0] == name }) else { return nil }
            let members = group[3].split(separator: ",").map(String.init)
            guard !members.contains(where: people.contains),
                !accounts.contains(where: { $0[3] == group[2] })
            else { return nil }
            return UnknownName(kind: .emptyGroup, name: name, isDenied: false, nearest: nil)
        }
    }

    private func unknown(
        _ names: Set<String>, kind: UnknownName.Kind, denied: Set<String> = [],
        in file: String
    ) -> [UnknownName] {
        guard !names.isEmpty else { return [] }
        let local = files.table(file).compactMap { $0.first.map(String.init) }
        return names.sorted().map { name in
            UnknownName(
                kind: kind, name: name, isDenied: denied.contains(name),
                nearest: name.nearest(among: local))
        }
    }

    /// Entries in a list of units that cannot be the name of a service unit.
    private func units(
        _ configuration: Configuration, setting: Setting, kind: UnknownName.Kind
    ) -> [UnknownName] {
        configuration.words(setting).filter { !$0.isServiceUnit }.map { word in
            let unit = word + ".service"
            return UnknownName(
                kind: kind, name: word, isDenied: false, nearest: unit.isServiceUnit ? unit : nil)
        }
    }
}

extension MachineFiles {
    /// Whether all accounts and groups are in this machine's own files, by /etc/nsswitch.conf.
    fileprivate var accountsAreLocal: Bool {
        let local: Set<Substring> = ["files", "compat", "systemd"]
        return lines("/etc/nsswitch.conf").allSatisfy { line in
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard let database = words.first, database == "passwd:" || database == "group:" else {
                return true
            }
            return words.dropFirst().allSatisfy { $0.hasPrefix("[") || local.contains($0) }
        }
    }
}

extension NameService {
    /// What to say if the lists admit root although `login.accounts` does not name it; nil if they
    /// do not, or if that is not certain.
    package func admissionOfRoot(_ configuration: Configuration) -> Text? {
        let lists = LoginLists(configuration)
        let memberships = Set(lists.groupNames.filter { (try? isMember("root", $0)) == true })
        guard !lists.namesRoot, !lists.deniedGroupNames.contains(where: lacksGroup),
            lists.exclusion(account: "root", uid: 0, memberships: memberships) == nil
        else { return nil }
        let words = ["!root"] + configuration.words(Settings.loginAccounts)
        return UnknownNameText.rootAdmitted(
            Settings.loginAccounts.name.bytes,
            list: "accounts = \(words.joined(separator: ", "))".bytes)
    }
}

extension String {
    /// Whether this can be the name of a service unit, a template or an instance; systemd.unit(5).
    fileprivate var isServiceUnit: Bool {
        let suffix = ".service"
        guard hasSuffix(suffix), utf8.count <= 255 else { return false }
        let name = utf8.dropLast(suffix.utf8.count)
        guard let first = name.first, first != UInt8(ascii: "@") else { return false }
        return name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: #":-_.\@"#.utf8.contains(byte)
            }
        }
    }
}
