// SPDX-License-Identifier: Apache-2.0
import Configuration
import LoginMessages
import LoginProtocol
import Posix

/// The machine under examination, as far as the caller can see it.
///
/// Checks look at it only through these parts, which tests replace. Nothing here changes the
/// machine.
package struct Machine: Sendable {
    /// The files.
    package var files = MachineFiles()
    /// The accounts and groups.
    package var nameService = NameService()
    /// The uid of the caller; only root can read private files.
    package var uid = effectiveUID()
    /// The time in seconds since 1970.
    package var now = Clock.system.wallSeconds()
    /// Whether the clock is synchronised; nil if that is not known.
    package var isClockKept = isClockSynchronised()
    /// Runs journalctl with these arguments; `failed` if there is no journal.
    package var journal: @Sendable ([String]) -> ChildAnswer = { arguments in
        ChildOutput.of(
            "/usr/bin/journalctl", arguments: arguments, cap: 1 << 20, within: .milliseconds(400))
    }

    /// Asks systemd for the state of a unit, such as `activating`; `failed` without systemd.
    package var unitState: @Sendable (String) -> ChildAnswer = { unit in
        ChildOutput.of(
            "/usr/bin/systemctl", arguments: ["show", "--property=ActiveState", "--value", unit],
            cap: 64, within: .seconds(10))
    }

    /// The machine that this program runs on.
    package init() {}

    /// The maximum number of accounts that are examined one by one.
    static let mostAccounts = 64

    var isRoot: Bool { uid == 0 }
}

extension Machine {
    /// The accounts that Signet stores something for and that the caller may ask about, sorted by
    /// uid.
    ///
    /// Root may ask about all accounts, other users only about their own.
    ///
    /// - Returns: The names, at most `mostAccounts`, and whether these are all.
    package func accounts() -> (names: [Bytes], areAll: Bool) {
        guard isRoot else { return (name(of: uid).map { [$0.bytes] } ?? [], true) }
        let kept = files.names("\(MachineFiles.state)/private/accounts").compactMap { UInt32($0) }
        let found = Set(kept + files.publicFiles().map(\.uid)).sorted().compactMap(name(of:))
        let names = found.prefix(Machine.mostAccounts).map(\.bytes)
        return (Array(names), found.count <= Machine.mostAccounts)
    }

    /// The login name of a uid; nil if there is none, or if the name service does not answer.
    package func name(of uid: UInt32) -> String? { nameService.name(of: uid) }

    /// The lines in all services' stacks that call the module.
    package func moduleLines() -> [ModuleLine] { stacks().moduleLines }

    /// The services that request a touch, and whether their module exists.
    package func moduleUse() -> ModuleUse { ModuleUse(files, stacks: stacks()) }

    /// The servers that must approve logins, according to the stacks.
    package func serverDemands() -> ServerDemands { ServerDemands(self, stacks: stacks()) }

    /// The names in the configuration's lists that match nothing on this machine.
    package func unknownNames(_ configuration: Configuration) -> [UnknownName] {
        UnknownNames(files: files, nameService: nameService, stacks: stacks()).all(configuration)
    }

    /// What to say if the lists admit root without naming it; nil if they do not.
    package func admissionOfRoot(_ configuration: Configuration) -> Text? {
        nameService.admissionOfRoot(configuration)
    }

    func stacks() -> ServiceStacks { ServiceStacks(files.stackFiles()) }
}

/// The accounts and groups of a machine.
///
/// The closures throw if the name service cannot answer, which must not be confused with a name
/// that does not exist.
package struct NameService: Sendable {
    /// The login name of a uid; nil if there is none.
    package var account: @Sendable (UInt32) throws(SystemFault) -> String? = {
        (uid) throws(SystemFault) in try Account.with(uid: uid)?.name
    }
    /// Whether the name service knows an account by this name.
    package var isAccount: @Sendable (String) throws(SystemFault) -> Bool = {
        (name) throws(SystemFault) in try Account.spelled(name) != nil
    }
    /// Whether a group of this name exists.
    package var isGroup: @Sendable (String) throws(SystemFault) -> Bool = {
        (name) throws(SystemFault) in try Group.number(of: name) != nil
    }
    /// Whether an account is a member of a group, both given by name.
    package var isMember: @Sendable (String, String) throws(SystemFault) -> Bool = {
        (name, group) throws(SystemFault) in
        guard let account = try Account.named(name) else { return false }
        return try !Group.memberships(of: account, among: [group]).isEmpty
    }

    /// The login name of a uid; nil if there is none, or if the name service does not answer.
    func name(of uid: UInt32) -> String? { try? account(uid) }

    /// Whether certainly no account has this name; false if the name service does not answer.
    func lacksAccount(_ name: String) -> Bool { (try? isAccount(name)) == false }

    /// Whether certainly no group has this name; false if the name service does not answer.
    func lacksGroup(_ name: String) -> Bool { (try? isGroup(name)) == false }
}
