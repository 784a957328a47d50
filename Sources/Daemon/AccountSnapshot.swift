// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginMessages
import LoginProtocol
import Loop
import Policy
import Posix
import SignedFormats
import Store
import Vault

/// An account whose credential fits its fingers: a touch could sign for it.
struct AccountSnapshot {
    let kept: AccountState
    let enrolment: Enrolment
    let credential: FoundCredential
    /// How the records were from which this was read.
    let stamp: AccountStamp
    /// What readers keep, where that was found out anew; else what was recorded counts.
    var storage: [ReaderStorage]?
}

extension Service {
    /// What is kept for an account, nil if nothing.
    func kept(_ account: Account) throws(StoreFault) -> AccountState? {
        try state.account(Bytes(account.name.utf8), uid: account.uid)
    }

    /// How an account stands for a touch that signs; the answer is no unless all is in order.
    ///
    /// Completes what a crash left, and revokes a credential that does not fit the fingers any more.
    func standing(of account: Account) throws(Denial) -> AccountSnapshot {
        try standing(of: account, try record(of: account))
    }

    private func record(of account: Account) throws(Denial) -> AccountState {
        let found = try reading(account) { () throws(StoreFault) in try kept(account) }
        guard let found else { throw Denial(.notEnrolled) }
        return found
    }

    /// The same after that was found out once: read anew only where a record may have changed.
    func standing(of account: Account, since before: AccountSnapshot) throws(Denial)
        -> AccountSnapshot
    {
        if before.kept.isUnchanged(since: before.stamp) { return before }
        return try standing(of: account, before.kept)
    }

    /// The same for an account whose files are open already: read anew, but not searched for.
    func standing(of account: Account, _ kept: AccountState) throws(Denial) -> AccountSnapshot {
        try standing(of: account, kept) { (enrolment) throws(StoreFault) in
            try revokeIfUnfit(account, kept, enrolment)
        }
    }

    /// How a login would find an account, by its records as they are: changes nothing.
    func readStanding(of account: Account) throws(Denial) -> AccountSnapshot {
        let kept = try record(of: account)
        return try standing(of: account, kept) { (enrolment) throws(StoreFault) in
            try kept.credential.judgement(on: enrolment)
        }
    }

    private func standing(
        of account: Account, _ kept: AccountState,
        _ state: (Enrolment) throws(StoreFault) -> Store.CredentialState
    ) throws(Denial) -> AccountSnapshot {
        let (stamp, enrolment, found) = try reading(account) { () throws(StoreFault) in
            // First: what is changed while the records are read shows later.
            let stamp = try kept.stamp([.prints, .credential])
            let enrolment = try kept.prints.enrolment()
            return (stamp, enrolment, try state(enrolment))
        }
        switch found {
        case .none, .damaged: throw Denial(enrolment.isEmpty ? .notEnrolled : .notEnabled)
        case .disabled(let since): throw Denial(.notEnabled, since: since.seconds)
        case .unfit(let cause): throw Denial(.invalidated, cause: cause)
        case .destroyed(let cause, let since):
            throw Denial(.invalidated, cause: cause, since: since.seconds)
        case .issued(let credential):
            return AccountSnapshot(
                kept: kept, enrolment: enrolment, credential: credential, stamp: stamp)
        }
    }

    /// Completes what a crash left half-made of an account's credential, destroys one that does not
    /// fit the fingers, and gives the state then.
    @discardableResult
    func revokeIfUnfit(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment
    ) throws(StoreFault) -> Store.CredentialState {
        try kept.credential.recover(for: enrolment)
        let found = try kept.credential.judgement(on: enrolment)
        guard case .unfit(let cause) = found else { return found }
        return try destroy(account, kept, because: cause)
    }

    /// Destroys an account's credential and records why.
    func destroy(
        _ account: Account, _ kept: AccountState, because cause: InvalidationCause
    ) throws(StoreFault) -> Store.CredentialState {
        // First: who enables login again may be root, who gives no password.
        if case .kept = try kept.keyring.state() {
            try drop(account, kept, because: .fingersChanged)
        }
        try invalidateServerKeys(account, kept)
        try kept.credential.destroy(cause, now: instant)
        journal.credential(
            of: account, "destroyed", because: String(decoding: cause.text.bytes, as: UTF8.self))
        return .destroyed(cause, since: instant)
    }

    /// Whether a touch could sign for an account, and the lockout if one keeps the finger out.
    ///
    /// A lockout is known by the records alone: then neither prints nor a reader are looked at, and
    /// whether they still fit the credential is found when it is lifted. Where only a report is
    /// wanted, nothing is changed.
    func lockout(of account: Account, for purpose: GuardPurpose) async throws(Denial) -> Denial? {
        let kept = try record(of: account)
        if case .issued? = try? kept.credential.recorded(),
            let lockout = Denial(of: kept.lockout.load(), at: now)
        {
            return lockout
        }
        await openTemplates(of: account)
        switch purpose {
        case .touch: _ = try standing(of: account, kept)
        case .report: _ = try readStanding(of: account)
        }
        return nil
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
}
