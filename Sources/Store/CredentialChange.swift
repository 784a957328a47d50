// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import SignedFormats
import Vault

/// A credential that is about to be made.
package struct CredentialDraft: Sendable {
    let identifier: [UInt8]
    /// What the vault has to seal it to.
    package let context: SealingContext
    let enrolment: Enrolment
    let storage: [ReaderStorage]
}

// A change of credential and prints, together or alone, is one write: that of the prints where they
// change, else that of the credential's record. What comes before can be dropped, what comes after
// is completed by `recover`.
extension CredentialStore {
    /// Makes a credential for the prints as they are now and publishes its public key.
    package func issue(
        _ enrolment: Enrolment, vault: some Vault, now: Instant
    ) throws(StoreFault) -> FoundCredential {
        let draft = try draft(enrolment)
        let made = try sealed { () throws(VaultError) in try vault.create(draft.context) }
        return try publish(draft, made, by: vault.kind, now: now)
    }

    /// What a vault is to make a credential for, the prints and what readers keep as they are or
    /// will be; nothing is written.
    ///
    /// Throws `.tooManyStoredPrints` where readers keep more than a record can have.
    package func draft(
        _ enrolment: Enrolment, covering storage: [ReaderStorage] = []
    ) throws(StoreFault) -> CredentialDraft {
        guard ReaderStorage.isRecordable(storage) else { throw .tooManyStoredPrints }
        let identifier = try random(16)
        return CredentialDraft(
            identifier: identifier, context: try context(identifier, enrolment.state, storage),
            enrolment: enrolment, storage: storage)
    }

    /// What a credential must be opened with, under the prints as they are now, or are to be
    /// resealed to, under the prints as they will be. What readers keep is as the record has it
    /// unless said otherwise.
    ///
    /// The vault opens it only if both are exactly what it was made for.
    package func context(
        of credential: FoundCredential, _ enrolment: Enrolment,
        covering storage: [ReaderStorage]? = nil
    ) throws(StoreFault) -> SealingContext {
        try context(credential.identifier, enrolment.state, storage ?? credential.storage)
    }

    /// Keeps the same key, which the vault sealed to what readers keep now.
    ///
    /// Throws `.changedMeanwhile`, with nothing changed, where it is not the credential any more.
    package func keep(
        _ credential: FoundCredential, resealed: [UInt8], covering storage: [ReaderStorage]
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

    /// Puts what a vault made for a draft in the place of any older credential, makes the change of
    /// prints that it was drafted for, and publishes its public key.
    ///
    /// After a throw, or a crash at any point, old prints and credential hold or the new ones do.
    /// Throws `.changedMeanwhile`, with nothing changed, where another change came between.
    @discardableResult
    package func publish(
        _ draft: CredentialDraft, _ made: NewCredential, by vault: VaultKind,
        with change: PrintChange? = nil, now: Instant
    ) throws(StoreFault) -> FoundCredential {
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

    private func turn(
        to next: SealedCredential, with change: PrintChange?
    ) throws(StoreFault) -> FoundCredential {
        if let change { try account.prints.check(change) }
        let former = try recover(for: account.prints.enrolment()).record
        if try published() != publicLine(of: next) {
            try register(next)
            try files { () throws(FileFault) in
                try account.keys.replace(AccountState.nextName(account.uid), [], mode: 0o644)
            }
        }
        try account.directory.keep(
            CredentialRecord.changing(from: former, to: next), as: Self.name)
        if let change { try account.prints.commit(change) }
        try finish(next)
        return FoundCredential(record: next)
    }

    /// Completes or drops a change that was begun: the prints tell whether it was made. Gives the
    /// credential that is left, whether it fits them or not.
    func settle(
        _ former: SealedCredential?, _ next: SealedCredential, _ enrolment: Enrolment
    ) throws(StoreFault) -> SealedCredential? {
        if fits(FoundCredential(record: next), enrolment) {
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

    /// Publishes the public key, then forgets the former credential.
    private func finish(_ next: SealedCredential) throws(StoreFault) {
        let line = publicLine(of: next)
        let mark = AccountState.offName(account.uid)
        if try published() != line {
            try files { () throws(FileFault) in
                try account.keys.replace(publicName, line, mode: 0o644)
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

    private func register(_ credential: SealedCredential) throws(StoreFault) {
        var all = try signers()
        all += account.name + RegisteredSigner.options + publicLine(of: credential)
        guard all.count <= Self.signersLimit else {
            throw .damaged(path: account.directory.path + "/" + Self.signersName)
        }
        try files { () throws(FileFault) in try account.directory.replace(Self.signersName, all) }
    }

    private func context(
        _ identifier: [UInt8], _ state: EnrolmentState, _ storage: [ReaderStorage]
    ) throws(StoreFault) -> SealingContext {
        let covering: EnrolmentState
        do throws(CryptoFault) {
            covering = try state.covering(storage)
        } catch { throw .vault(.crypto(error)) }
        let context = SealingContext(
            account: account.name, uid: account.uid, credential: identifier,
            relyingParty: "local", enrolment: covering)
        guard let context else { throw .unsupportedName }
        return context
    }
}

extension CredentialState {
    /// The record of a credential that is there.
    fileprivate var record: SealedCredential? {
        if case .issued(let credential) = self { credential.record } else { nil }
    }
}
