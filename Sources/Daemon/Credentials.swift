import Loop
import Policy
import Posix
import Store
import Wire

/// Login by finger on and off, and lockouts lifted: all after the password.
extension Service {
    /// Issues a credential for the present fingers.
    func enable(_ account: Account) -> Answer {
        changing(account) { kept throws(StoreFault) in
            let enrolment = try kept.prints.enrolment()
            guard !enrolment.isEmpty else { return .denial(Denial(.notEnrolled)) }
            try issue(account, kept, enrolment, because: "enabled")
            return .done(DoneAnswer(prints: enrolment.count, state: .valid))
        }
    }

    /// Destroys the credential; the fingers stay.
    func disable(_ account: Account) -> Answer {
        changing(account) { kept throws(StoreFault) in
            try kept.credential.disable(now: instant)
            journal.credential(of: account, "destroyed", because: "disabled")
            return .done(DoneAnswer(state: .disabled))
        }
    }

    /// Lifts a lockout.
    func unlock(_ account: Account, because reason: String) -> Answer {
        changing(account) { kept throws(StoreFault) in
            if kept.lockout.load() != Lockout() {
                try kept.lockout.save(Lockout())
                journal.service("lockout of \(account.name) lifted: \(reason)")
            }
            return .done(DoneAnswer())
        }
    }

    /// Issues a credential for these fingers in the place of any older one.
    func issue(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment,
        because reason: String
    ) throws(StoreFault) {
        _ = try kept.credential.issue(enrolment, vault: vault, now: instant)
        journal.credential(of: account, "issued", because: reason)
    }

    private func changing(
        _ account: Account, _ change: (AccountState) throws(StoreFault) -> Answer
    ) -> Answer {
        do throws(StoreFault) {
            guard let kept = try kept(account) else { return .denial(Denial(.notEnrolled)) }
            return try change(kept)
        } catch {
            return .denial(denial(for: error, account))
        }
    }
}

extension Enrolment {
    /// The number of fingers, as the socket has it.
    var count: UInt8 { UInt8(clamping: prints.count) }
}
