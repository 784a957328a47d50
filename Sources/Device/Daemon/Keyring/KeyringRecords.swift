// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import MainContext
import Posix
import Sealing
import State

/// The records of the login passwords that are stored to unlock keyrings.
///
/// A stored password is usable only while the fingers are those that it was sealed to and the
/// account's password in shadow(5) has not changed since. This type judges that, and drops a
/// password that is no longer usable. The reason stays on disk, so that the user can be told to
/// store the password again. It never opens a password; see `Keyring` for that.
struct KeyringRecords: FingerBound {
    static let ending = Ending.password

    private let journal: DecisionJournal
    private let vaults: Vaults
    private let accounts: Accounts

    init(_ parts: HoldingParts) {
        journal = parts.journal
        vaults = parts.vaults
        accounts = parts.accounts
    }
}

extension KeyringRecords {
    /// A password is sealed again after the change, if it was given; see `Keyring.settleKeyring`.
    func prepare(_: ChangeOfFingers, of _: Holder) {}

    func settle(_ holder: Holder, for fingers: Enrolment) throws(StoreFault) {
        try dropUselessPassword(holder.account, kept: holder.kept, enrolment: fingers)
    }

    func revoke(_ holder: Holder) throws(StoreFault) {
        guard case .kept = try holder.kept.keyring.state() else { return }
        try drop(holder.account, kept: holder.kept, because: .fingersChanged)
    }

    /// Moves the password, so that one touch opens it with the credential. One that is no longer
    /// usable stays, for `settle` to drop it.
    func move(_ holder: Holder, for fingers: Enrolment, to vault: VaultKind) async {
        let (account, kept) = (holder.account, holder.kept)
        do throws(StoreFault) {
            guard case .kept(let password) = try kept.keyring.state(), password.vault != vault,
                case .kept = try keyringJudgement(account, kept: kept, enrolment: fingers)
            else { return }
            let context = try kept.keyring.context(of: password, enrolment: fingers)
            let key = try await vaults.move(
                password.sealed.key, from: password.vault, to: vault, context: context)
            guard try kept.keyring.state() == .kept(password),
                try kept.prints.enrolment().state == fingers.state
            else { throw .changedMeanwhile }
            try kept.keyring.keep(password, resealed: key, by: vault)
        } catch {
            journal.fault(
                "the login password could not be moved to another vault: \(error)",
                account: account.name)
        }
    }

    func count(_ kept: AccountState, fitting _: EnrolmentState?) throws(StoreFault) -> Int {
        if case .kept = try kept.keyring.state() { 1 } else { 0 }
    }

    /// The password that authorises a change is stored in its place, while a finger is left.
    func effects(
        of change: ForetoldChange, on kept: AccountState, fitting fingers: EnrolmentState?
    ) throws(StoreFault) -> [ChangeEffectAnswer] {
        if change.isAuthorized && change.leavesFinger { return [] }
        return try count(kept, fitting: fingers) > 0 ? [ChangeEffectAnswer("keyring")] : []
    }

    func show(
        _ holder: Holder, for fingers: Enrolment, credential _: CredentialFileState,
        in report: inout AccountReport
    ) throws(StoreFault) {
        report.status.keyring = try keyringJudgement(
            holder.account, kept: holder.kept, enrolment: fingers
        ).onTheWire
    }

    /// What has become of it depends on the password that was given; see `Keyring.settleKeyring`.
    func report(_: (before: Int, after: Int), in _: inout DoneAnswer) {}
}

extension KeyringRecords {
    /// Judges an account's stored password by the records and shadow(5).
    ///
    /// A password that is no longer usable is reported as `useless` with the reason, and so is a
    /// damaged record. Changes nothing.
    func keyringJudgement(
        _ account: Account, kept: AccountState, enrolment: Enrolment
    ) throws(StoreFault) -> KeyringJudgement {
        let found = try kept.keyring.state()
        switch found {
        case .off: return .off
        case .dropped(let loss, _): return .dropped(loss)
        case .damaged: return .useless(.damaged)
        case .kept(let password):
            let entry = try shadowEntry(account)
            guard let loss = try kept.keyring.loss(of: password, enrolment: enrolment, entry: entry)
            else {
                return .kept(password)
            }
            return .useless(loss)
        }
    }

    /// Drops a stored password if it is no longer usable, and returns the state after that.
    @discardableResult
    func dropUselessPassword(
        _ account: Account, kept: AccountState, enrolment: Enrolment
    ) throws(StoreFault) -> KeyringJudgement {
        let found = try keyringJudgement(account, kept: kept, enrolment: enrolment)
        guard case .useless(let loss) = found else { return found }
        try drop(account, kept: kept, because: loss)
        return .dropped(loss)
    }

    /// Deletes an account's stored password from disk, and records and logs the reason.
    func drop(
        _ account: Account, kept: AccountState, because loss: KeyringLoss
    ) throws(StoreFault) {
        try kept.keyring.drop(loss, now: accounts.instant)
        journal.keyring(of: account, change: "dropped", because: loss.text)
    }

    /// Deletes an account's stored password, and the record that the user wants one stored.
    ///
    /// Does nothing if the keyring was off already. Unlike after `drop`, the user is not told
    /// afterwards.
    func forgetKeyring(
        _ account: Account, kept: AccountState, because reason: String
    ) throws(StoreFault) {
        guard try kept.keyring.state() != .off else { return }
        try kept.keyring.remove()
        journal.keyring(of: account, change: "dropped", because: reason)
    }

    /// Returns the account's current entry in shadow(5).
    ///
    /// Nil if it has none with a password hash, as accounts of a directory service do.
    func shadowEntry(_ account: Account) throws(StoreFault) -> ShadowEntry? {
        do throws(SystemFault) {
            return try ShadowEntry.named(account.name)
        } catch { throw .file(.system(error)) }
    }
}

extension KeyringLoss {
    /// The reason as the journal states it.
    fileprivate var text: String {
        switch self {
        case .passwordChanged: "the login password has changed: run 'signet enable --keyring'"
        case .fingersChanged: "the fingers or the key have changed, and the password was not given"
        case .damaged: "it does not open"
        }
    }
}

/// The state of an account's keyring, judged by its fingers and shadow(5).
enum KeyringJudgement {
    case off
    case kept(KeyringPassword)
    /// A password is stored and no longer usable.
    ///
    /// It is dropped at the next login that asks for it, once a change of fingers has taken effect,
    /// and when the credential is enabled again, moved or destroyed.
    case useless(KeyringLoss)
    case dropped(KeyringLoss)

    /// The state for the command protocol.
    var onTheWire: KeyringState {
        switch self {
        case .off: .off
        case .kept: .on
        case .useless(.passwordChanged), .dropped(.passwordChanged): .passwordChanged
        case .useless(.fingersChanged), .dropped(.fingersChanged): .fingersChanged
        case .useless(.damaged), .dropped(.damaged): .damaged
        }
    }
}
