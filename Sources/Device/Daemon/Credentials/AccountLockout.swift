// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Configuration
import Gate
import LoginProtocol
import Posix
import State

/// The failed attempts of one account, counted on disk for the gate.
///
/// Each attempt is saved as a failure before the reader is asked, and taken back or forgiven
/// afterwards, so that neither a crash nor a restart of the daemon forgives one. The limits are
/// those of `Lockout`: a pause after every fifth failure, and the password after twenty. Wrong
/// passwords are counted here where the password takes the finger's place, together with the
/// finger's failures (`factor`).
///
/// Throws `lockedForNow` with the seconds left, `lockedUntilPassword`, or `storage` if the record
/// cannot be written; no finger is asked for then. A record that cannot be read counts as locked
/// until the password is given.
struct AccountLockout: LockoutLedger {
    let account: Account
    let store: LockoutStore
    let time: LockoutTime
    let journal: DecisionJournal
    /// What is tried: a pause holds for both, and the lock that only the password lifts does not
    /// hold for the password.
    var factor = ConfirmingFactor.finger

    /// Throws if the account is locked out now.
    func check() throws(Denial) { try checkNow() }

    nonisolated fileprivate func checkNow() throws(Denial) {
        if let denial = Denial(of: store.load(), trying: factor, at: time.now) { throw denial }
    }

    /// Saves one more failure, and returns the attempt that may take it back.
    func begin() throws(Denial) -> any LockoutAttempt {
        do throws(StoreFault) {
            return try CountedAttempt(self)
        } catch { throw fault(error) }
    }

    /// Logs a storage fault and returns its denial.
    nonisolated fileprivate func fault(_ fault: StoreFault) -> Denial {
        journal.fault(fault.description, account: account.name)
        return Denial(.storage, subject: Bytes(fault.description.utf8.prefix(Limit.text)))
    }
}

/// The clock of lockouts: the time since boot together with the boot identifier.
///
/// Unlike the wall clock, it cannot be set, so a pause cannot be shortened that way.
struct LockoutTime: Sendable {
    let boot: Bytes
    let clock: Clock

    /// The current moment.
    var now: Lockout.Moment { Lockout.Moment(boot: boot, sinceBoot: clock.sinceBoot()) }
}

/// One attempt, which is on disk as a failure from the start.
///
/// There is only one touch at a time, so no other touch changes the record meanwhile. But an
/// accepted password may lift the lockout, and an enrolment elsewhere or a wrong password may add a
/// failure; each method therefore compares the record with the one that this attempt has written.
/// Of attempts at the same time, one too many may be counted, and never one too few.
private struct CountedAttempt: LockoutAttempt {
    private let lockout: AccountLockout
    private let before: Lockout
    private let counted: Lockout

    init(_ lockout: AccountLockout) throws(StoreFault) {
        self.lockout = lockout
        before = lockout.store.load()
        counted = before.beginningAttempt(at: lockout.time.now)
        try lockout.store.save(counted)
    }

    /// Saves that the finger or the password was wrong, and throws if the account is locked out now.
    ///
    /// If the record was changed meanwhile, for example because a password lifted the lockout, this
    /// failure is added to the changed record.
    func failed() throws(Denial) {
        let now = lockout.time.now
        let after: Lockout
        do throws(StoreFault) {
            let current = lockout.store.load()
            let attempt = current == counted ? counted : current.beginningAttempt(at: now)
            after = attempt.afterMismatch(at: now)
            if after != current { try lockout.store.save(after) }
        } catch { throw lockout.fault(error) }
        if let denial = Denial(of: after, trying: lockout.factor, at: now) { throw denial }
    }

    /// Removes this attempt from the record, unless the record was changed meanwhile.
    ///
    /// If the disk fails, the attempt stays counted.
    func takeBack() {
        do throws(StoreFault) {
            if lockout.store.load() == counted { try lockout.store.save(before) }
        } catch { _ = lockout.fault(error) }
    }

    /// Throws if something else has locked the account out since this attempt began.
    func check() throws(Denial) {
        if lockout.store.load() != counted { try lockout.checkNow() }
    }

    /// Saves that there are no failures, because the finger matched or the password was right.
    ///
    /// The turn at the readers may have ended before this, so that another attempt may have begun, or
    /// failed, since: that stays counted.
    func succeeded() throws(Denial) {
        do throws(StoreFault) {
            try lockout.store.save(lockout.store.load().afterMatch(in: counted))
        } catch { throw lockout.fault(error) }
    }
}

extension Denial {
    /// Creates the denial for a lockout that is in effect; nil if the factor may be tried.
    ///
    /// Seconds are rounded up, so that the user does not try too early.
    init?(of lockout: Lockout, trying factor: ConfirmingFactor = .finger, at now: Lockout.Moment) {
        let verdict =
            switch factor {
            case .finger: lockout.verdict(at: now)
            case .password: lockout.passwordVerdict(at: now)
            }
        switch verdict {
        case .open: return nil
        case .lockedForNow(let left): self.init(.lockedForNow, seconds: left.wholeSecondsUp)
        case .lockedUntilPassword: self.init(.lockedUntilPassword)
        }
    }
}
