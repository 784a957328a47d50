// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import Sealing
import SignedFormats
import State

/// Gives the other parts access to the records of accounts, and turns errors into denials.
///
/// Every error is logged with the account's name and becomes one of a few denials: `storage` for
/// the disk and damaged records, `vaultUnavailable` or `platformChanged` for a vault,
/// `fingersClosed` if the prints cannot be opened now, and `badRequest` if another request changed
/// the records in between. Details are cut to `Limit.text` bytes.
///
/// Accounts at which the disk failed are remembered until `AccountRecovery` has completed what was
/// left unfinished.
@ServiceActor
final class Accounts {
    let boot: Bytes
    let clock: Clock
    let journal: DecisionJournal
    let state: StateDirectory
    /// The uids of accounts at which the disk failed, so that their records may be incomplete.
    private(set) var faultedAccounts: Set<UInt32> = []

    init(
        boot: Bytes, clock: Clock, journal: DecisionJournal, state: StateDirectory
    ) {
        self.boot = boot
        self.clock = clock
        self.journal = journal
        self.state = state
    }
}

extension Accounts {
    /// Runs code that reads or writes records; an error is logged and thrown as a denial.
    func reading<Value, Fault: Error>(
        _ account: Account, _ body: () throws(Fault) -> Value
    ) throws(Denial) -> Value {
        do {
            return try body()
        } catch { throw denial(for: error, account: account) }
    }

    /// Runs asynchronous code that reads or writes records, and treats errors as `reading` does.
    func answering<Value, Fault: Error>(
        _ account: Account, _ body: () async throws(Fault) -> Value
    ) async throws(Denial) -> Value {
        do {
            return try await body()
        } catch { throw denial(for: error, account: account) }
    }

    /// Marks an account at which the disk failed, so that it is recovered before the next request.
    func noteFault(at account: Account) { faultedAccounts.insert(account.uid) }

    /// Removes the mark of an account that was recovered.
    func noteRecovery(of uid: UInt32) { faultedAccounts.remove(uid) }

    /// Logs an error and returns its denial.
    ///
    /// A `Denial` is returned unchanged and not logged, since `Router` logs the answer.
    func denial(for error: any Error, account: Account) -> Denial {
        switch error {
        case let denial as Denial: return denial
        case let fault as StoreFault: return denial(for: fault, account: account)
        case let error as VaultError: return denial(for: .vault(error), account: account)
        case let fault as SystemFault: return denial(for: .file(.system(fault)), account: account)
        default:
            journal.fault("\(error)", account: account.name)
            return Denial(.storage)
        }
    }

    /// Logs a storage fault and returns its denial.
    ///
    /// A disk fault also marks the account for recovery.
    func denial(for fault: StoreFault, account: Account) -> Denial {
        switch fault {
        // Neither is a fault of the machine's.
        case .anotherAccount(let former):
            return Denial(.invalidated, cause: .accountReplaced, subject: former.bytes)
        case .anotherLife(let life): return Denial(.invalidated, cause: life.cause)
        case .unsupportedName: return Denial(.accountNameUnusable)
        default: break
        }
        journal.fault(fault.description, account: account.name)
        if case .file = fault { noteFault(at: account) }
        switch fault {
        case .vault(let error): return Denial(of: error)
        case .closed(let error):
            return Denial(
                .fingersClosed, subject: Bytes(error.description.utf8.prefix(Limit.text)))
        case .changedMeanwhile: return Denial(.badRequest)
        case .notForetold: return Denial(.changedMeanwhile)
        default: break
        }
        return Denial(.storage, subject: Bytes(fault.description.utf8.prefix(Limit.text)))
    }
}

extension Accounts {
    /// Throws `accountNameUnusable` for an account that cannot have fingers.
    func checkName(of account: Account) throws(Denial) {
        guard AccountName(account.name).isUsable else { throw Denial(.accountNameUnusable) }
    }

    /// Opens the records of an account; nil if it has none.
    ///
    /// Throws `StoreFault.anotherAccount` if the records of this uid belong to another account
    /// name, as after an account was renamed, or deleted and its uid given to a new one. Throws
    /// `.anotherLife` if it may not be the account that enrolled; see `AccountLife`.
    func kept(_ account: Account) throws(StoreFault) -> AccountState? {
        let found = try state.account(AccountName(account.name), uid: account.uid)
        if let found { try checkLife(of: account, kept: found) }
        return found
    }

    /// Opens the records of an account; nil if it has none, or if they are, or may be, those of a
    /// former account.
    func keptIfOwn(_ account: Account) throws(StoreFault) -> AccountState? {
        do throws(StoreFault) {
            return try kept(account)
        } catch {
            switch error {
            case .anotherAccount, .anotherLife: return nil
            default: throw error
            }
        }
    }

    /// Throws `.anotherLife` unless the account is certainly the one that enrolled.
    func checkLife(of account: Account, kept: AccountState) throws(StoreFault) {
        let life = try kept.life(seen: evidence(of: account))
        guard life == .same else { throw .anotherLife(life) }
    }

    private func evidence(of account: Account) -> AccountEvidence {
        state.look(AccountName(account.name), uid: account.uid)
    }

    /// Opens the records of an account's uid, also if a former account enrolled; nil if there are
    /// none.
    ///
    /// Only for what is right for a successor, too: to turn login by finger off, and to delete what
    /// the former account has left.
    func keptOfAnyone(_ account: Account) throws(StoreFault) -> AccountState? {
        try state.account(uid: account.uid)
    }

    /// Makes the records of the uid those of this account as it is now.
    ///
    /// The caller has made sure that the account's password, or root, vouches for its fingers.
    func adopt(_ account: Account, because reason: String) throws(StoreFault) {
        guard let found = try keptOfAnyone(account) else { return }
        let name = AccountName(account.name)
        let seen = evidence(of: account)
        let life = try found.life(seen: seen)
        try found.adopted(by: name, seen: seen, now: instant)
        if found.name != name || life != .same {
            let former = String(decoding: found.name.bytes, as: UTF8.self)
            journal.service("the fingers of \(former) are now those of \(account.name): \(reason)")
        }
    }

    /// Records that the account's password was given, or changed by who knows the old one.
    ///
    /// Does nothing for an account that is certainly not the one that enrolled; only `signet
    /// enable` adopts what that has left. A password that was set without the old one is cleared
    /// up: from now on it is the account's.
    ///
    /// - Parameter isOld: whether the old password was given as well, so that no home directory has
    ///   to show that the account is the same.
    func passwordGiven(_ account: Account, knowingOld isOld: Bool) throws(StoreFault) {
        let name = AccountName(account.name)
        guard let found = try keptOfAnyone(account), found.name == name else { return }
        let seen = evidence(of: account)
        let life = try found.life(seen: seen)
        guard life == .passwordReplaced || life == .replaced && isOld && found.mayHaveHome(seen)
        else { return }
        try found.mark(seen, now: instant)
    }

    /// Returns the account that root names by records it has left, if the name service does not
    /// know its name any more; nil if there are none.
    func departed(_ name: AccountName) -> Account? {
        guard let found = try? state.accounts().first(where: { $0.name == name }) else {
            return nil
        }
        return Account(
            name: String(decoding: name.bytes, as: UTF8.self), uid: found.uid, gid: found.uid,
            home: "")
    }

    /// Returns the ledger with which the gates count the account's failed attempts on disk.
    func lockoutLedger(
        of account: Account, kept: AccountState, trying factor: ConfirmingFactor = .finger
    ) -> AccountLockout {
        AccountLockout(
            account: account, store: kept.lockout, time: LockoutTime(boot: boot, clock: clock),
            journal: journal, factor: factor)
    }

    /// The current moment of the lockout clock: boot identifier and time since boot.
    var now: Lockout.Moment { LockoutTime(boot: boot, clock: clock).now }

    /// The current time of the wall clock, which is displayed to users.
    ///
    /// It decides nothing about lockouts, because it can be set.
    var instant: Instant { Instant(seconds: UInt64(clamping: clock.wallSeconds())) }

    /// Returns an account's records and prints; throws `notEnrolled` if no finger can match.
    func fingers(of account: Account) throws(Denial) -> (AccountState, Enrolment) {
        try reading(account) {
            guard let kept = try kept(account) else { throw Denial(.notEnrolled) }
            let enrolment = try kept.prints.enrolment()
            if enrolment.isEmpty { throw Denial(.notEnrolled) }
            return (kept, enrolment)
        }
    }
}

extension AccountLife {
    /// Why login by finger is off, as denials say it.
    fileprivate var cause: InvalidationCause {
        self == .passwordReplaced ? .passwordReplaced : .accountReplaced
    }
}
