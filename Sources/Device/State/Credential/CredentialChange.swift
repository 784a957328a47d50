// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix
import Sealing
import SignedFormats

/// The draft of a credential that a vault is about to create.
///
/// It exists only in memory.
package struct CredentialDraft: Sendable {
    let identifier: CredentialID
    /// The context that the vault must seal the private key to.
    package let context: SealingContext
    let enrolment: Enrolment
    let storage: [ReaderStorage]
}

// A change of the credential, the prints or both takes effect by a single write: that of the record
// `account` if prints change, otherwise that of the record `credential`. A change that is
// interrupted before that write is dropped by `recover`; one that is interrupted after it is
// completed.
extension CredentialStore {
    /// Creates a credential for the present prints and publishes its public key.
    ///
    /// Throws as `publish` does.
    package func issue(
        _ enrolment: Enrolment, vault: some Vault, now: Instant
    ) throws(StoreFault) -> StoredCredential {
        let draft = try draft(enrolment)
        let made = try sealed { () throws(VaultError) in try vault.create(draft.context) }
        return try publish(draft, made: made, by: vault.kind, now: now)
    }

    /// Drafts a credential for an enrolment and the contents of readers, present or future.
    ///
    /// Writes nothing. Throws `.tooManyStoredPrints` if the readers store more prints than a record
    /// can hold.
    package func draft(
        _ enrolment: Enrolment, covering storage: [ReaderStorage] = []
    ) throws(StoreFault) -> CredentialDraft {
        guard ReaderStorage.isRecordable(storage) else { throw .tooManyStoredPrints }
        let identifier: CredentialID = try random()
        return CredentialDraft(
            identifier: identifier,
            context: try context(identifier, state: enrolment.state, storage: storage),
            enrolment: enrolment, storage: storage)
    }

    /// Returns the context to open a credential with, or to seal it to for another enrolment.
    ///
    /// The contents of readers are those of the record unless given. The vault opens the key only
    /// if the enrolment and the contents are exactly those it was sealed to.
    package func context(
        of credential: StoredCredential, enrolment: Enrolment,
        covering storage: [ReaderStorage]? = nil
    ) throws(StoreFault) -> SealingContext {
        try context(
            credential.identifier, state: enrolment.state, storage: storage ?? credential.storage)
    }

    /// Stores the same key, which the vault has sealed again to the present contents of readers.
    ///
    /// Throws `.changedMeanwhile`, with nothing changed, if this is no longer the account's
    /// credential, and `.tooManyStoredPrints` as `draft` does.
    package func keep(
        _ credential: StoredCredential, resealed: [UInt8], covering storage: [ReaderStorage]
    ) throws(StoreFault) {
        guard ReaderStorage.isRecordable(storage) else { throw .tooManyStoredPrints }
        guard try recover(for: account.prints.enrolment()) == .issued(credential) else {
            throw .changedMeanwhile
        }
        var record = credential.record
        record.sealed = resealed
        record.storage = storage
        try account.directory.keep(CredentialRecord.sealed(record), as: Self.name)
    }

    /// Makes a drafted credential the account's only one and publishes its public key.
    ///
    /// Also commits the change of prints that it was drafted for. After an error, or a crash at any
    /// point, either the old prints and credential are in effect or the new ones. Without a change
    /// of prints, the caller must check that the prints are still those of the draft.
    ///
    /// - Throws: `.changedMeanwhile`, with nothing changed, if `change` is given and the prints
    ///   have changed since it was drafted.
    @discardableResult
    package func publish(
        _ draft: CredentialDraft, made: NewCredential, by vault: VaultKind,
        with change: PrintChange? = nil, now: Instant
    ) throws(StoreFault) -> StoredCredential {
        guard let publicKey = SSHPublicKey(point: made.publicPoint) else {
            throw .vault(.malformed)
        }
        let host = try sealed { () throws(VaultError) in try account.host.identifier() }
        return try turn(
            to: SealedCredential(
                identifier: draft.identifier, created: now, publicKey: publicKey, vault: vault,
                sealed: made.sealed, enrolment: draft.enrolment.state, host: host,
                manifest: PrintManifest(draft.enrolment), storage: draft.storage), with: change)
    }

    /// Writes the files of a change in the order that `recover` relies on.
    ///
    /// The public key is added to `signers` and the mark `keys/<uid>.next` is written before the
    /// record, so that a crash leaves a trace from which `StateDirectory.unfinished` finds the
    /// account.
    private func turn(
        to next: SealedCredential, with change: PrintChange?
    ) throws(StoreFault) -> StoredCredential {
        if let change { try account.prints.check(change) }
        let former = try recover(for: account.prints.enrolment()).record
        if try published() != publicLine(of: next) {
            try register(next)
            try files { () throws(FileFault) in
                try account.keys.replace(AccountState.nextName(account.uid), bytes: [], mode: 0o644)
            }
        }
        try account.directory.keep(
            CredentialRecord.changing(from: former, to: next), as: Self.name)
        if let change { try account.prints.commit(change) }
        try finish(next)
        return StoredCredential(record: next)
    }

    /// Completes or drops an interrupted change, depending on whether the prints have changed.
    ///
    /// Returns the credential that remains, whether it fits the prints or not.
    func settle(
        _ former: SealedCredential?, next: SealedCredential, enrolment: Enrolment
    ) throws(StoreFault) -> SealedCredential? {
        if fits(StoredCredential(record: next), enrolment: enrolment) {
            try finish(next)
            return next
        }
        if let former {
            try account.directory.keep(CredentialRecord.sealed(former), as: Self.name)
        } else {
            try files { () throws(FileFault) in try account.directory.remove(Self.name) }
        }
        try removeMark()
        return former
    }

    /// Publishes the public key, then removes the former credential from the record and the mark.
    private func finish(_ next: SealedCredential) throws(StoreFault) {
        let line = publicLine(of: next)
        let mark = AccountState.offName(account.uid)
        if try published() != line {
            try files { () throws(FileFault) in
                try account.keys.replace(publicName, bytes: line, mode: 0o644)
            }
        }
        try files { () throws(FileFault) in
            if try account.keys.contains(mark) { try account.keys.remove(mark) }
        }
        try account.directory.keep(CredentialRecord.sealed(next), as: Self.name)
        try removeMark()
    }

    private func removeMark() throws(StoreFault) {
        let mark = AccountState.nextName(account.uid)
        try files { () throws(FileFault) in
            if try account.keys.contains(mark) { try account.keys.remove(mark) }
        }
    }

    /// Adds the public key to the list of all keys that the account ever had.
    private func register(_ credential: SealedCredential) throws(StoreFault) {
        var all = try signers()
        all +=
            RegisteredSigner.principal(account.name) + RegisteredSigner.options
            + publicLine(of: credential)
        guard all.count <= Self.signersLimit else {
            throw .damaged(path: account.directory.path + "/" + Self.signersName)
        }
        try files { () throws(FileFault) in
            try account.directory.replace(Self.signersName, bytes: all)
        }
    }

    private func context(
        _ identifier: CredentialID, state: EnrolmentState, storage: [ReaderStorage]
    ) throws(StoreFault) -> SealingContext {
        let covering: EnrolmentState
        do throws(CryptoFault) {
            covering = try state.covering(storage)
        } catch { throw .vault(.crypto(error)) }
        let context = SealingContext(
            account: account.sealedName, uid: account.uid, item: identifier,
            relyingParty: "local", enrolment: covering)
        guard let context else { throw .unsupportedName }
        return context
    }
}

extension CredentialFileState {
    /// The record of an issued credential.
    fileprivate var record: SealedCredential? {
        if case .issued(let credential) = self { credential.record } else { nil }
    }
}
