import Loop
import Policy
import Posix
import Statement
import Store
import Vault
import Wire

/// An account whose credential fits its fingers: a touch could sign for it.
struct Standing {
    let kept: AccountState
    let enrolment: Enrolment
    let credential: FoundCredential
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
    /// A credential that does not fit the fingers any more is destroyed here, with its reason.
    func standing(of account: Account) -> Ruling<Standing> {
        switch record(of: account) {
        case .deny(let denial): .deny(denial)
        case .allow(let kept): standing(of: account, kept)
        }
    }

    private func record(of account: Account) -> Ruling<AccountState> {
        reading(account) { () throws(StoreFault) in
            guard let kept = try kept(account) else { return .deny(Denial(.notEnrolled)) }
            return .allow(kept)
        }
    }

    /// The same for an account whose files are open already: read anew, but not searched for.
    func standing(of account: Account, _ kept: AccountState) -> Ruling<Standing> {
        reading(account) { () throws(StoreFault) in
            let enrolment = try kept.prints.enrolment()
            switch try credentialState(account, kept, enrolment) {
            case .none, .damaged:
                return .deny(Denial(enrolment.isEmpty ? .notEnrolled : .notEnabled))
            case .disabled(let since):
                return .deny(Denial(.notEnabled, since: since.seconds))
            case .destroyed(let cause, let since):
                return .deny(Denial(.invalidated, cause: cause, since: since.seconds))
            case .issued(let credential):
                return .allow(
                    Standing(kept: kept, enrolment: enrolment, credential: credential))
            }
        }
    }

    /// The credential's state, after one that does not fit the fingers has been destroyed.
    func credentialState(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment
    ) throws(StoreFault) -> Store.CredentialState {
        let found = try kept.credential.state(for: enrolment)
        switch found {
        case .none, .disabled, .destroyed: return found
        case .damaged: return try destroy(account, kept, because: .credentialDamaged)
        case .issued(let credential):
            if kept.credential.fits(credential, enrolment) { return found }
            let cause = try kept.credential.explain(credential, enrolment)
            return try destroy(account, kept, because: cause)
        }
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
        journal.credential(of: account, "destroyed", because: "\(cause)")
        return .destroyed(cause, since: instant)
    }

    /// Whether a touch could sign for an account, and the lockout if one keeps the finger out.
    ///
    /// A lockout is known by the records alone: then neither prints nor a reader are looked at, and
    /// whether they still fit the credential is found when it is lifted.
    func lockout(of account: Account) async -> Ruling<Denial?> {
        let kept: AccountState
        switch record(of: account) {
        case .deny(let denial): return .deny(denial)
        case .allow(let found): kept = found
        }
        if case .issued? = try? kept.credential.recorded(),
            let lockout = denial(of: kept.lockout.load())
        {
            return .allow(lockout)
        }
        await openTemplates(of: account)
        return standing(of: account, kept).map { _ in nil }
    }

    /// Why the lockout keeps the finger out; nil if it may be tried.
    func denial(of lockout: Lockout) -> Denial? {
        switch lockout.verdict(at: now) {
        case .open: nil
        case .lockedForNow(let left): Denial(.lockedForNow, seconds: left.wholeSecondsUp)
        case .lockedUntilPassword: Denial(.lockedUntilPassword)
        }
    }

    /// Runs what reads or writes the disk; a fault is recorded and becomes a denial.
    func reading<Value>(
        _ account: Account, _ body: () throws(StoreFault) -> Ruling<Value>
    ) -> Ruling<Value> {
        do throws(StoreFault) {
            return try body()
        } catch {
            return .deny(denial(for: error, account))
        }
    }

    /// The denial that a fault of the disk becomes, after it was recorded.
    func denial(for fault: StoreFault, _ account: Account) -> Denial {
        journal.fault(fault.description, account: account.name)
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

    /// This moment, for lockouts.
    var now: Lockout.Moment { Lockout.Moment(boot: boot, sinceBoot: clock.sinceBoot()) }

    /// This moment of the wall clock, for people.
    var instant: Instant { Instant(seconds: UInt64(clamping: clock.wallSeconds())) }
}
