// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Loop
import Posix
import Store

/// What is kept of login passwords for the keyring: judged, and dropped with the reason.
@ServiceActor
final class KeyringRecords {
    let journal: DecisionJournal
    let accounts: Accounts

    init(
        journal: DecisionJournal, accounts: Accounts
    ) {
        self.journal = journal
        self.accounts = accounts
    }
}

extension KeyringRecords {
    /// How the keyring stands: a password that is of no use any more counts as dropped. Changes
    /// nothing.
    func keyringJudgement(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment
    ) throws(StoreFault) -> KeyringJudgement {
        let found = try kept.keyring.state()
        switch found {
        case .off: return .off
        case .dropped(let loss, _): return .dropped(loss)
        case .damaged: return .useless(.damaged)
        case .kept(let password):
            let entry = try shadowEntry(account)
            guard let loss = try kept.keyring.loss(of: password, enrolment, entry) else {
                return .kept(password)
            }
            return .useless(loss)
        }
    }

    /// Drops a password that is of no use any more, with the reason, and gives how the keyring stands
    /// then.
    func dropUselessPassword(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment
    ) throws(StoreFault) -> KeyringJudgement {
        let found = try keyringJudgement(account, kept, enrolment)
        guard case .useless(let loss) = found else { return found }
        try drop(account, kept, because: loss)
        return .dropped(loss)
    }

    /// Drops an account's password and records why.
    func drop(
        _ account: Account, _ kept: AccountState, because loss: KeyringLoss
    ) throws(StoreFault) {
        try kept.keyring.drop(loss, now: accounts.instant)
        journal.keyring(of: account, "dropped", because: loss.text)
    }

    /// Drops an account's password, and that it was wanted.
    func forgetKeyring(
        _ account: Account, _ kept: AccountState, because reason: String
    ) throws(StoreFault) {
        guard try kept.keyring.state() != .off else { return }
        try kept.keyring.remove()
        journal.keyring(of: account, "dropped", because: reason)
    }

    /// What shadow(5) says of an account now.
    func shadowEntry(_ account: Account) throws(StoreFault) -> ShadowEntry? {
        do throws(SystemFault) {
            return try ShadowEntry.named(account.name)
        } catch { throw .file(.system(error)) }
    }
}

extension KeyringLoss {
    /// For the journal.
    fileprivate var text: String {
        switch self {
        case .passwordChanged: "the login password has changed: run 'signet enable --keyring'"
        case .fingersChanged: "the fingers or the key have changed, and the password was not given"
        case .damaged: "it does not open"
        }
    }
}

/// How an account's keyring stands, judged by its fingers and shadow(5).
enum KeyringJudgement {
    case off
    case kept(KeyringPassword)
    /// A password is kept, and is of no use any more: it is dropped at the next release or change.
    case useless(KeyringLoss)
    case dropped(KeyringLoss)

    /// As the socket has it.
    var onTheWire: CommandProtocol.KeyringState {
        switch self {
        case .off: .off
        case .kept: .on
        case .useless(.passwordChanged), .dropped(.passwordChanged): .passwordChanged
        case .useless(.fingersChanged), .dropped(.fingersChanged): .fingersChanged
        case .useless(.damaged), .dropped(.damaged): .damaged
        }
    }
}
