// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Loop
import Policy
import Posix
import SignedFormats
import Store
import Vault

/// What is kept on disk for accounts, as far as all of the daemon needs it: found, read, and its faults
/// turned into denials in one place.
@ServiceActor
final class Accounts {
    let boot: Bytes
    let clock: Clock
    let journal: DecisionJournal
    let state: StateDirectory
    /// Accounts at which the disk failed: what it left half-made is completed as soon as it can be.
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
    /// Runs what reads or writes the disk; a fault is recorded and thrown as a denial.
    func reading<Value, Fault: Error>(
        _ account: Account, _ body: () throws(Fault) -> Value
    ) throws(Denial) -> Value {
        do {
            return try body()
        } catch { throw denial(for: error, account) }
    }

    /// Runs what takes time and reads or writes the disk, in the same way.
    func answering<Value, Fault: Error>(
        _ account: Account, _ body: () async throws(Fault) -> Value
    ) async throws(Denial) -> Value {
        do {
            return try await body()
        } catch { throw denial(for: error, account) }
    }

    /// Notes that the disk failed at an account, and may have left something half-made.
    func noteFault(at account: Account) { faultedAccounts.insert(account.uid) }

    /// Notes that nothing half-made is left at an account.
    func noteRecovery(of uid: UInt32) { faultedAccounts.remove(uid) }

    /// The denial that an error becomes.
    func denial(for error: any Error, _ account: Account) -> Denial {
        switch error {
        case let denial as Denial: return denial
        case let fault as StoreFault: return denial(for: fault, account)
        case let error as VaultError: return denial(for: .vault(error), account)
        case let fault as SystemFault: return denial(for: .file(.system(fault)), account)
        default:
            journal.fault("\(error)", account: account.name)
            return Denial(.storage)
        }
    }

    /// The denial that a fault of the disk becomes, after it was recorded.
    func denial(for fault: StoreFault, _ account: Account) -> Denial {
        journal.fault(fault.description, account: account.name)
        if case .file = fault { noteFault(at: account) }
        switch fault {
        case .vault(let error): return Denial(of: error)
        case .closed(let error):
            return Denial(
                .fingersClosed, subject: Bytes(error.description.utf8.prefix(Limit.text)))
        case .changedMeanwhile: return Denial(.badRequest)
        default: break
        }
        return Denial(.storage, subject: Bytes(fault.description.utf8.prefix(Limit.text)))
    }
}

extension Accounts {
    /// What is kept for an account, nil if nothing.
    func kept(_ account: Account) throws(StoreFault) -> AccountState? {
        try state.account(Bytes(account.name.utf8), uid: account.uid)
    }

    /// The failed attempts of an account, for the gate.
    func lockoutLedger(of account: Account, _ kept: AccountState) -> AccountLockout {
        AccountLockout(
            account: account, store: kept.lockout, time: LockoutTime(boot: boot, clock: clock),
            journal: journal)
    }

    /// This moment, for lockouts.
    var now: Lockout.Moment { LockoutTime(boot: boot, clock: clock).now }

    /// This moment of the wall clock, for people.
    var instant: Instant { Instant(seconds: UInt64(clamping: clock.wallSeconds())) }

    /// An account's fingers; throws where it has none.
    func fingers(of account: Account) throws(Denial) -> (AccountState, Enrolment) {
        try reading(account) {
            guard let kept = try kept(account) else { throw Denial(.notEnrolled) }
            let enrolment = try kept.prints.enrolment()
            if enrolment.isEmpty { throw Denial(.notEnrolled) }
            return (kept, enrolment)
        }
    }
}
