// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Gate
import LoginProtocol
import Posix
import State

/// The failed attempts of one account on disk, as the gate counts them.
///
/// An attempt is saved as a failure before the reader is asked, and taken back or lifted
/// afterwards, so that neither a crash nor a restart forgives one. The denials are `lockedForNow`
/// with the seconds left, `lockedUntilPassword`, and `storage` if the record cannot be written.
struct AccountLockout: LockoutLedger {
    let account: Account
    let store: LockoutStore
    let time: LockoutTime
    let journal: DecisionJournal

    func check() throws(Denial) { try checkNow() }

    nonisolated fileprivate func checkNow() throws(Denial) {
        if let denial = Denial(of: store.load(), at: time.now) { throw denial }
    }

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

/// The clock of lockouts: time since boot together with the boot identifier.
struct LockoutTime: Sendable {
    let boot: Bytes
    let clock: Clock

    /// The current moment.
    var now: Lockout.Moment { Lockout.Moment(boot: boot, sinceBoot: clock.sinceBoot()) }
}

/// One attempt, which is on disk as a failure from the start.
///
/// Since there is one touch at a time, nothing else counts meanwhile. A password may lift the
/// lockout, though; that takes precedence.
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

    /// If the lockout was lifted meanwhile, this is the first failure since.
    func failed() throws(Denial) {
        let now = lockout.time.now
        let after: Lockout
        do throws(StoreFault) {
            let current = lockout.store.load()
            let attempt = current == counted ? counted : current.beginningAttempt(at: now)
            after = attempt.afterMismatch(at: now)
            if after != current { try lockout.store.save(after) }
        } catch { throw lockout.fault(error) }
        if let denial = Denial(of: after, at: now) { throw denial }
    }

    /// If the disk fails, the attempt stays counted.
    func takeBack() {
        do throws(StoreFault) {
            if lockout.store.load() == counted { try lockout.store.save(before) }
        } catch { _ = lockout.fault(error) }
    }

    func check() throws(Denial) {
        if lockout.store.load() != counted { try lockout.checkNow() }
    }

    func succeeded() throws(Denial) {
        do throws(StoreFault) {
            try lockout.store.save(counted.lifted())
        } catch { throw lockout.fault(error) }
    }
}

extension Denial {
    /// Why a lockout refuses the finger now; nil if it does not.
    init?(of lockout: Lockout, at now: Lockout.Moment) {
        switch lockout.verdict(at: now) {
        case .open: return nil
        case .lockedForNow(let left): self.init(.lockedForNow, seconds: left.wholeSecondsUp)
        case .lockedUntilPassword: self.init(.lockedUntilPassword)
        }
    }
}
