// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Configuration
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix

/// Applies the administrator's login lists: which services, accounts and groups may log in by
/// fingerprint, and whether background processes may ask.
///
/// If `login.groups` is set and an account's memberships cannot be determined, the account is
/// excluded.
@ServiceActor
final class LoginPolicy {
    let journal: DecisionJournal
    let settings: Configuration

    init(
        journal: DecisionJournal, settings: Configuration
    ) {
        self.journal = journal
        self.settings = settings
    }
}

extension LoginPolicy {
    /// Throws `notServed`, with the setting as the subject, if the lists exclude the service or the
    /// account.
    func checkLists(_ service: ServiceName, account: Account) throws(Denial) {
        let lists = LoginLists(settings)
        // A service name that is not UTF-8 matches no list entry, so only lists of allowed services
        // exclude it.
        let name = String(decoding: service.bytes, as: UTF8.self)
        guard let setting = lists.exclusion(service: name) ?? exclusion(of: account) else { return }
        throw Denial(.notServed, subject: Bytes(setting.name.utf8))
    }

    /// The setting that excludes an account from fingerprint login; nil if none does.
    ///
    /// An error of the name service is logged, and excludes the account if `login.groups` is set, or
    /// `login.accounts` names other accounts than root.
    func exclusion(of account: Account) -> Setting? {
        let lists = LoginLists(settings)
        let memberships: Set<String>?
        do throws(SystemFault) {
            memberships = try self.memberships(of: account, lists: lists)
        } catch {
            journal.fault(error.description, account: account.name)
            memberships = nil
        }
        return lists.exclusion(
            account: account.name, uid: account.uid, spellings: spellings(of: account, in: lists),
            memberships: memberships)
    }

    /// The names in `login.accounts` under which the name service finds the account; nil if that
    /// cannot be determined.
    ///
    /// A name that does not exist is no account's. Most lists need no look-up: root counts by its
    /// uid, and an account that is denied by its own name is denied.
    private func spellings(of account: Account, in lists: LoginLists) -> Set<String>? {
        guard !lists.deniesAccount(named: account.name) else { return [] }
        var found: Set<String> = []
        for name in lists.accountNames.subtracting([account.name, "root"]).sorted() {
            do throws(SystemFault) {
                guard let other = try Account.spelled(name), other.uid == account.uid,
                    other.name == account.name
                else { continue }
                found.insert(name)
            } catch {
                journal.fault(error.description, account: account.name)
                return nil
            }
        }
        return found
    }

    /// The groups named in `login.groups` to which an account belongs; nil if that cannot be
    /// determined.
    ///
    /// A denied group that the name service does not know may be misspelt, deleted, or in a
    /// directory that cannot be reached. Its members must stay excluded in the last case, so the
    /// result is nil, which excludes every account.
    private func memberships(
        of account: Account, lists: LoginLists
    ) throws(SystemFault) -> Set<String>? {
        for name in lists.deniedGroupNames.sorted() where try Group.number(of: name) == nil {
            journal.fault(
                "login.groups names the unknown group \(name): all accounts are excluded",
                account: account.name)
            return nil
        }
        return try Group.memberships(of: account, among: lists.groupNames)
    }

    /// Adds to the answer about a change the setting that excludes the account from login
    /// nevertheless.
    func keptOut(_ answer: Answer, account: Account) -> Answer {
        guard case .done(var done) = answer, let setting = exclusion(of: account) else {
            return answer
        }
        done.keptOut = Bytes(setting.name.utf8)
        return .done(done)
    }

    /// Throws `inBackground` for a login that cannot come from a user in front of its terminal.
    ///
    /// This applies only if the PAM module asks for it (`background == .refuse`). A process in a
    /// terminal's background is denied whatever its seat. A process without a terminal may be a
    /// graphical program, so it is accepted if its session is at a seat.
    func checkBackground(_ login: AuthenticateRequest?, presence: Presence?) throws(Denial) {
        guard let login, login.background == .refuse else { return }
        switch login.presence {
        case .foreground: return
        case .background: throw Denial(.inBackground)
        case .noTerminal: if presence?.seat == nil { throw Denial(.inBackground) }
        }
    }
}
