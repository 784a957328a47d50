// SPDX-License-Identifier: Apache-2.0
import Gate
import LoginProtocol
import Policy
import Posix
import Store

/// The failed attempts of one account, as the gate counts them.
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

    /// The denial that a fault of the disk becomes.
    nonisolated fileprivate func fault(_ fault: StoreFault) -> Denial {
        journal.fault(fault.description, account: account.name)
        return Denial(.storage, subject: Bytes(fault.description.utf8.prefix(Limit.text)))
    }
}

/// The moments by which lockouts are counted.
struct LockoutTime: Sendable {
    let boot: Bytes
    let clock: Clock

    /// This moment.
    var now: Lockout.Moment { Lockout.Moment(boot: boot, sinceBoot: clock.sinceBoot()) }
}

/// One attempt, on disk as a failure from its first moment.
///
/// Nothing else counts while it is under way, since there is one touch at a time; but a password
/// may lift the lockout meanwhile, and then its word holds.
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

    /// Where the lockout was lifted meanwhile, this is the first failure since.
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

    /// Where the disk does not let it, the attempt counts.
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
    /// Why a lockout keeps the finger out; nil if it may be tried.
    init?(of lockout: Lockout, at now: Lockout.Moment) {
        switch lockout.verdict(at: now) {
        case .open: return nil
        case .lockedForNow(let left): self.init(.lockedForNow, seconds: left.wholeSecondsUp)
        case .lockedUntilPassword: self.init(.lockedUntilPassword)
        }
    }
}
