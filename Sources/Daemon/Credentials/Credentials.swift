// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginMessages
import LoginProtocol
import Loop
import Posix
import ReaderProtocol
import SignedFormats
import Store
import Vault

/// The credential of each account: how it stands, when it is revoked, and how it is issued.
///
/// The innermost part of the daemon. Whatever opens a key or changes fingers goes through it.
@ServiceActor
final class Credentials {
    let journal: DecisionJournal
    let vaults: Vaults
    let accounts: Accounts
    let keyringRecords: KeyringRecords
    let upkeep: ReaderUpkeep
    let revocation: ServerKeyRevocation
    let coverage: StorageCoverage
    let templates: TemplateKeys

    init(
        journal: DecisionJournal, vaults: Vaults, accounts: Accounts,
        keyringRecords: KeyringRecords, upkeep: ReaderUpkeep, revocation: ServerKeyRevocation,
        coverage: StorageCoverage, templates: TemplateKeys
    ) {
        self.journal = journal
        self.vaults = vaults
        self.accounts = accounts
        self.keyringRecords = keyringRecords
        self.upkeep = upkeep
        self.revocation = revocation
        self.coverage = coverage
        self.templates = templates
    }
}

extension Credentials {
    /// How an account stands for a touch that signs; the answer is no unless all is in order.
    ///
    /// Completes what a crash left, and revokes a credential that does not fit the fingers any more.
    func standing(of account: Account) throws(Denial) -> AccountSnapshot {
        try standing(of: account, try record(of: account))
    }

    func record(of account: Account) throws(Denial) -> AccountState {
        let found = try accounts.reading(account) { () throws(StoreFault) in
            try accounts.kept(account)
        }
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

    func standing(
        of account: Account, _ kept: AccountState,
        _ state: (Enrolment) throws(StoreFault) -> Store.CredentialState
    ) throws(Denial) -> AccountSnapshot {
        let (stamp, enrolment, found) = try accounts.reading(account) { () throws(StoreFault) in
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
            try keyringRecords.drop(account, kept, because: .fingersChanged)
        }
        try revocation.invalidateServerKeys(account, kept)
        try kept.credential.destroy(cause, now: accounts.instant)
        journal.credential(
            of: account, "destroyed", because: String(decoding: cause.text.bytes, as: UTF8.self))
        return .destroyed(cause, since: accounts.instant)
    }

    /// Whether a touch could sign for an account, and the lockout if one keeps the finger out.
    ///
    /// A lockout is known by the records alone: then neither prints nor a reader are looked at, and
    /// whether they still fit the credential is found when it is lifted. Where only a report is
    /// wanted, nothing is changed.
    func lockout(of account: Account, for purpose: GuardPurpose) async throws(Denial) -> Denial? {
        let kept = try record(of: account)
        if case .issued? = try? kept.credential.recorded(),
            let lockout = Denial(of: kept.lockout.load(), at: accounts.now)
        {
            return lockout
        }
        await templates.openTemplates(of: account)
        switch purpose {
        case .touch: _ = try standing(of: account, kept)
        case .report: _ = try readStanding(of: account)
        }
        return nil
    }
}

extension Credentials {
    /// Issues a credential for these fingers in the place of any older one: in the vault that is
    /// wanted, else where the older one was. It covers `storage` of what readers keep. Where `change`
    /// leads to these fingers, both happen at once or not at all. False where the prints did not
    /// follow into the credential's vault.
    @discardableResult
    func issue(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment,
        with change: PrintChange? = nil, covering storage: [ReaderStorage],
        in wanted: VaultKind? = nil, because reason: String
    ) async throws(StoreFault) -> Bool {
        let draft = try kept.credential.draft(enrolment, covering: storage)
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
        if let change { try upkeep.noteDeletion(of: change.removed) }
        try kept.credential.publish(draft, made, by: kind, with: change, now: accounts.instant)
        journal.credential(of: account, "issued", because: reason)
        // What the account keeps goes where its credential is: the other vault may be given up.
        await moveSecrets(kept, for: enrolment.state, to: kind)
        return await templates.moveTemplates(of: account, kept, to: kind)
    }

    /// Destroys a credential that what a reader keeps does not fit: a new finger vouches for none
    /// that somebody else added.
    func judge(_ contents: ReaderContents, _ account: Account) throws(StoreFault) {
        guard let kept = try accounts.kept(account) else { return }
        let stamp = try kept.stamp([.prints, .credential])
        let enrolment = try kept.prints.enrolment()
        guard case .issued(let credential) = try revokeIfUnfit(account, kept, enrolment) else {
            return
        }
        let standing = AccountSnapshot(
            kept: kept, enrolment: enrolment, credential: credential, stamp: stamp)
        _ = examine(contents, of: "", account, standing, StorageCheck())
    }

    /// How many secrets open to these fingers; nil for none, and where that cannot be told.
    func secrets(_ kept: AccountState, fitting state: EnrolmentState) -> UInt32? {
        do throws(StoreFault) {
            let count = try kept.secrets.list().count(fitting: state)
            return count == 0 ? nil : UInt32(clamping: count)
        } catch {
            journal.fault(error.description)
            return nil
        }
    }

    /// Moves the keys of secrets that open to some fingers to another vault. What fails is told, and
    /// stays as it was.
    func moveSecrets(
        _ kept: AccountState, for fingers: EnrolmentState, to vault: VaultKind
    ) async {
        do throws(StoreFault) {
            for secret in try kept.secrets.list().intact {
                do throws(StoreFault) {
                    try await move(secret, in: kept.secrets, for: fingers, to: vault)
                } catch { journal.fault("a secret was not moved: \(error)") }
            }
        } catch { journal.fault(error.description) }
    }

    func move(
        _ secret: StoredSecret, in secrets: SecretStore, for fingers: EnrolmentState,
        to vault: VaultKind
    ) async throws(StoreFault) {
        guard let sealing = secret.sealing(for: fingers), sealing.vault != vault else { return }
        let context = try secrets.context(secret.identifier, name: secret.name, fingers)
        let key = try await move(sealing.key, from: sealing.vault, to: vault, context)
        try secrets.keep(secret, resealed: key, by: vault, fingers)
    }

    /// Seals a key that a vault opens in another one, to the same context.
    func move(
        _ sealed: Bytes, from old: VaultKind, to new: VaultKind, _ context: SealingContext
    ) async throws(StoreFault) -> Bytes {
        do throws(VaultError) {
            let key = try await vaults.call(old) { vault throws(VaultError) in
                let data = try vault.ready(data: sealed, context)
                defer { data.release() }
                return try data.lift(context)
            }
            return try await vaults.call(new) { vault throws(VaultError) in
                try vault.seal(key, context)
            }
        } catch { throw .vault(error) }
    }

    /// An account's keys for others as they are shown: one that does not fit the fingers any more
    /// counts as invalidated. Changes nothing.
    func shownKeys(of account: Account) async throws(Denial) -> [ServerKey] {
        await templates.openTemplates(of: account)
        return try accounts.reading(account) { () throws(StoreFault) in
            guard let kept = try accounts.kept(account) else { return [] }
            let enrolment = try kept.prints.enrolment()
            let isRevoked =
                switch try kept.credential.judgement(on: enrolment) {
                case .unfit: true
                case .none, .issued, .disabled, .destroyed, .damaged: false
                }
            return try kept.servers.all().compactMap { key in
                if key.state == .proving, revocation.isProving(key) {
                    return nil
                }
                return key.shown(fitting: isRevoked ? nil : enrolment.state)
            }
        }
    }
}
