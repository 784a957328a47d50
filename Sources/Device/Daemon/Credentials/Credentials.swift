// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginMessages
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import Sealing
import SignedFormats
import State

/// The credential of each account: judges it, issues it, revokes it, and moves it between vaults.
///
/// A credential is the account's key for this machine. It is sealed to the enrolled fingers and to
/// the prints that readers store, so that it opens only while both are as they were. If either was
/// changed by anything but Signet, `revokingSnapshot` and `revokeIfUnfit` destroy the credential
/// and record the cause. The keys for servers and the stored login password end with it.
///
/// Everything that opens an account's key or changes its fingers goes through this class. Functions
/// that are safe to call for reports say that they change nothing.
@ServiceActor
final class Credentials {
    let journal: DecisionJournal
    let vaults: Vaults
    let accounts: Accounts
    let upkeep: ReaderUpkeep
    let holdings: Holdings
    let coverage: StorageCoverage
    let templates: TemplateKeyOpener

    init(
        journal: DecisionJournal, vaults: Vaults, accounts: Accounts, upkeep: ReaderUpkeep,
        holdings: Holdings, coverage: StorageCoverage, templates: TemplateKeyOpener
    ) {
        self.journal = journal
        self.vaults = vaults
        self.accounts = accounts
        self.upkeep = upkeep
        self.holdings = holdings
        self.coverage = coverage
        self.templates = templates
    }
}

extension Credentials {
    /// Returns the account's records if a touch could sign for it.
    ///
    /// Completes what a crash left unfinished, and destroys a credential that no longer fits the
    /// fingers. Does not look at the lockout.
    ///
    /// Throws `notEnrolled` if there is no finger, `notEnabled` if there is no credential (with the
    /// time, if login by finger was turned off), `invalidated` with the cause, or the denial of a
    /// storage fault.
    func revokingSnapshot(of account: Account) throws(Denial) -> AccountSnapshot {
        try revokingSnapshot(of: account, kept: try record(of: account))
    }

    /// Opens the account's records.
    ///
    /// Throws `notEnrolled` if there are none, and `invalidated` if they belong, or may belong, to a
    /// former account with the same uid.
    func record(of account: Account) throws(Denial) -> AccountState {
        let found = try accounts.reading(account) { () throws(StoreFault) in
            try accounts.kept(account)
        }
        guard let found else { throw Denial(.notEnrolled) }
        return found
    }

    /// Returns the account's records as `revokingSnapshot(of:)` does, or `before` if nothing has changed
    /// since it was read.
    ///
    /// Its stamp shows that without reading the records again.
    func revokingSnapshot(of account: Account, since before: AccountSnapshot) throws(Denial)
        -> AccountSnapshot
    {
        try accounts.reading(account) { () throws(StoreFault) in
            try accounts.checkLife(of: account, kept: before.kept)
        }
        if before.kept.isUnchanged(since: before.stamp) { return before }
        return try revokingSnapshot(of: account, kept: before.kept)
    }

    /// Returns the account's records as `revokingSnapshot(of:)` does, if they have been opened already.
    func revokingSnapshot(of account: Account, kept: AccountState) throws(Denial) -> AccountSnapshot
    {
        try snapshot(of: account, kept: kept) { (enrolment) throws(StoreFault) in
            try revokeIfUnfit(account, kept: kept, enrolment: enrolment)
        }
    }

    /// Returns the account's records as a login would find them, judged by their contents alone.
    ///
    /// Throws as `revokingSnapshot(of:)`. Changes nothing: a credential that does not fit is reported as
    /// `invalidated` and left in place.
    func snapshot(of account: Account) throws(Denial) -> AccountSnapshot {
        let kept = try record(of: account)
        return try snapshot(of: account, kept: kept) { (enrolment) throws(StoreFault) in
            try kept.credential.judgement(on: enrolment)
        }
    }

    /// Reads the records, and translates the state of the credential into a snapshot or a denial.
    ///
    /// - Parameter state: judges the credential for the fingers that were read; it may revoke it.
    private func snapshot(
        of account: Account, kept: AccountState,
        _ state: (Enrolment) throws(StoreFault) -> CredentialFileState
    ) throws(Denial) -> AccountSnapshot {
        let (stamp, enrolment, found) = try accounts.reading(account) { () throws(StoreFault) in
            // Read the stamp first, so that it reveals changes made while the records are read.
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

    /// Destroys the credential if it does not fit the fingers, and returns the state after that.
    ///
    /// First completes what a crash left unfinished. A credential is unfit if the fingers are not
    /// those that it was sealed to, or if its record is damaged. The contents of readers are not
    /// examined here; see `examine`.
    @discardableResult
    func revokeIfUnfit(
        _ account: Account, kept: AccountState, enrolment: Enrolment
    ) throws(StoreFault) -> CredentialFileState {
        try kept.credential.recover(for: enrolment)
        let found = try kept.credential.judgement(on: enrolment)
        guard case .unfit(let cause) = found else { return found }
        return try destroy(account, kept: kept, because: cause)
    }

    /// Destroys an account's credential on disk and records the cause, which the next request
    /// reports.
    ///
    /// What must not outlive it is destroyed first, so that a crash in between leaves nothing that
    /// depends on a credential that is gone.
    func destroy(
        _ account: Account, kept: AccountState, because cause: InvalidationCause
    ) throws(StoreFault) -> CredentialFileState {
        try holdings.revoke(Holder(account: account, kept: kept))
        try kept.credential.destroy(cause, now: accounts.instant)
        journal.credential(
            of: account, change: "destroyed",
            because: String(decoding: cause.text.bytes, as: UTF8.self))
        return .destroyed(cause, since: accounts.instant)
    }

    /// Checks whether a touch could sign for an account, and returns its fingers, or the lockout if
    /// they are locked.
    ///
    /// During a lockout, prints and readers are not looked at; whether the credential still fits
    /// them is checked once the lockout is over. For a touch, a credential that does not fit is
    /// destroyed; for a report, nothing is changed. Throws as `revokingSnapshot(of:)`.
    func guardedFingers(
        of account: Account, for purpose: GuardPurpose
    ) async throws(Denial) -> GuardedFingers {
        let kept = try record(of: account)
        if case .issued? = try? kept.credential.recorded(),
            let lockout = Denial(of: kept.lockout.load(), at: accounts.now)
        {
            return GuardedFingers(lockout: lockout)
        }
        await templates.openTemplates(of: account)
        let snapshot =
            switch purpose {
            case .touch: try revokingSnapshot(of: account, kept: kept)
            case .report: try snapshot(of: account)
            }
        return GuardedFingers(kept: kept, prints: snapshot.enrolment.prints)
    }
}

extension Credentials {
    /// Issues a credential for these fingers in place of any older one, and moves what else opens
    /// to them, and the prints, to its vault.
    ///
    /// The caller must have made sure that the user vouches for these fingers, by password or as
    /// root. The change of prints and the new credential take effect in one write: after a crash,
    /// either the old fingers and credential count or the new ones.
    ///
    /// Throws `.changedMeanwhile`, with nothing issued, if the credential or the fingers were
    /// changed while the vault was at work.
    ///
    /// - Parameters:
    ///   - change: the change of prints that leads to `enrolment`; nil if the prints stay as they
    ///     are.
    ///   - storage: the reader contents that the credential is sealed to.
    ///   - wanted: the vault to use; nil for the vault of the older credential, or the preferred
    ///     one.
    /// - Returns: false if the prints could not be resealed for the credential's vault.
    @discardableResult
    func issue(
        _ account: Account, kept: AccountState, enrolment: Enrolment,
        with change: PrintChange? = nil, covering storage: [ReaderStorage],
        in wanted: VaultKind? = nil, because reason: String
    ) async throws(StoreFault) -> Bool {
        let draft = try kept.credential.draft(enrolment, covering: storage)
        let former = try kept.credential.state()
        let kind: VaultKind
        let made: NewCredential
        do throws(VaultError) {
            if let wanted {
                kind = wanted
            } else {
                kind = try await vaults.chosen(after: former.vault)
            }
            made = try await vaults.call(kind) { vault throws(VaultError) in
                try vault.create(draft.context)
            }
        } catch { throw .vault(error) }
        // While the vault was at work, another request may have changed the fingers or turned login
        // by finger off.
        guard try kept.credential.state() == former else { throw .changedMeanwhile }
        if change == nil {
            guard try kept.prints.enrolment().state == enrolment.state else {
                throw .changedMeanwhile
            }
        }
        if let change { try upkeep.noteDeletion(of: change.removed) }
        try kept.credential.publish(
            draft, made: made, by: kind, with: change, now: accounts.instant)
        journal.credential(of: account, change: "issued", because: reason)
        // The user may give up the other vault.
        await holdings.move(Holder(account: account, kept: kept), for: enrolment, to: kind)
        return await templates.moveTemplates(of: account, kept: kept, to: kind)
    }

    /// Destroys the account's credential if the contents of a reader do not fit it.
    ///
    /// Call this before a finger is added, with what the reader stores then. Otherwise the new
    /// credential would also cover a print that was added by other means. Throws if that cannot be
    /// judged or recorded; then no finger may be added.
    func revokeIfUnfit(storage contents: ReaderContents, of account: Account) throws(StoreFault) {
        guard let kept = try accounts.kept(account) else { return }
        let stamp = try kept.stamp([.prints, .credential])
        let enrolment = try kept.prints.enrolment()
        guard
            case .issued(let credential) = try revokeIfUnfit(
                account, kept: kept, enrolment: enrolment)
        else {
            return
        }
        let snapshot = AccountSnapshot(
            kept: kept, enrolment: enrolment, credential: credential, stamp: stamp)
        let denial = try revokeIfChanged(
            contents, of: "", account: account, snapshot: snapshot, check: StorageCheck())
        // Another request has replaced the credential, and this one was not judged.
        if let denial, denial.reason != .invalidated { throw .changedMeanwhile }
    }
}
