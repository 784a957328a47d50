// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix

/// The administrator's lists: which services and accounts are served, and from where.
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
    /// Throws where the administrator's lists exclude a service or an account.
    func checkLists(_ service: Bytes, _ account: Account) throws(Denial) {
        let lists = LoginLists(settings)
        // A name that is not UTF-8 stands in no list, so that only lists of who is let in keep it out.
        let name = String(decoding: service, as: UTF8.self)
        guard let setting = lists.exclusion(service: name) ?? exclusion(of: account) else { return }
        throw Denial(.notServed, subject: Bytes(setting.name.utf8))
    }

    /// The setting that keeps an account out of fingerprint login, nil where none does.
    func exclusion(of account: Account) -> Setting? {
        let lists = LoginLists(settings)
        let memberships: Set<String>?
        do throws(SystemFault) {
            memberships = try self.memberships(of: account, lists)
        } catch {
            journal.fault(error.description, account: account.name)
            memberships = nil
        }
        return lists.exclusion(
            account: account.name, uid: account.uid, memberships: memberships)
    }

    /// Those of the listed groups that an account is in; nil where nobody can tell.
    ///
    /// A group that keeps out and that the name service does not know is misspelt, gone, or in a
    /// directory that is out of reach: its members are to be kept out all the same, so all are.
    private func memberships(
        of account: Account, _ lists: LoginLists
    ) throws(SystemFault) -> Set<String>? {
        for name in lists.deniedGroupNames.sorted() where try Group.number(of: name) == nil {
            journal.fault(
                "login.groups keeps out \(name), and there is no such group: all are kept out",
                account: account.name)
            return nil
        }
        return try Group.memberships(of: account, among: lists.groupNames)
    }

    /// An answer to a change, which says too what keeps the account out nevertheless.
    func keptOut(_ answer: Answer, _ account: Account) -> Answer {
        guard case .done(var done) = answer, let setting = exclusion(of: account) else {
            return answer
        }
        done.keptOut = Bytes(setting.name.utf8)
        return .done(done)
    }

    /// Throws for a request that nobody in front of a terminal may have made.
    ///
    /// A process in a terminal's background is refused wherever it sits. One without a terminal may
    /// be a program with windows: then its session is at a seat.
    func checkBackground(_ login: AuthenticateRequest?, _ presence: Presence?) throws(Denial) {
        guard let login, login.background == .refuse else { return }
        switch login.presence {
        case .foreground: return
        case .background: throw Denial(.inBackground)
        case .noTerminal: if presence?.seat == nil { throw Denial(.inBackground) }
        }
    }
}
