import Loop
import Policy
import Posix
import Store
import Vault
import Wire

/// Login by finger on and off, and lockouts lifted: all after the password.
extension Service {
    /// Issues a credential for the present fingers.
    func enable(_ account: Account) async -> Answer {
        await answering(account) { () async throws(StoreFault) in
            guard let kept = try kept(account) else { return .denial(Denial(.notEnrolled)) }
            let enrolment = try kept.prints.enrolment()
            guard !enrolment.isEmpty else { return .denial(Denial(.notEnrolled)) }
            try await issue(account, kept, enrolment, because: "enabled")
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

    /// Issues a credential for these fingers in the place of any older one: in the vault that is
    /// wanted, else where the older one was. Where `change` leads to these fingers, both happen at
    /// once or not at all.
    func issue(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment,
        with change: PrintChange? = nil, in wanted: VaultKind? = nil, because reason: String
    ) async throws(StoreFault) {
        let draft = try kept.credential.draft(enrolment)
        let former = try kept.credential.state()
        let kind: VaultKind
        if let wanted { kind = wanted } else { kind = await vaults.chosen(after: former.vault) }
        let made: NewCredential
        do throws(VaultError) {
            made = try await vaults.call(kind) { vault throws(VaultError) in
                try vault.create(draft.context)
            }
        } catch { throw .vault(error) }
        // While the vault was at work, somebody else may have changed the fingers, or switched
        // login by finger off.
        guard try kept.credential.state() == former else { throw .changedMeanwhile }
        if change == nil {
            guard try kept.prints.enrolment().state == enrolment.state else {
                throw .changedMeanwhile
            }
        }
        try kept.credential.publish(draft, made, by: kind, with: change, now: instant)
        journal.credential(of: account, "issued", because: reason)
        // What the account keeps goes where its credential is: the other vault may be given up.
        await reseal(kept, from: enrolment.state, to: enrolment.state, by: kind)
    }

    /// Runs what takes time and reads or writes the disk; a fault is recorded and becomes a denial.
    func answering(
        _ account: Account, _ body: () async throws(StoreFault) -> Answer
    ) async -> Answer {
        do throws(StoreFault) {
            return try await body()
        } catch {
            return .denial(denial(for: error, account))
        }
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
