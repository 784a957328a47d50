import Crypto
import Posix
import Statement
import Vault
import Wire

/// A credential as it was found on disk.
package struct FoundCredential: Equatable, Sendable {
    /// The credential's id, 16 bytes.
    package var identifier: [UInt8] { record.identifier }
    /// When it was made.
    package var created: Instant { record.created }
    /// The public half, as `keys/` has it.
    package var publicKey: SSHPublicKey { record.publicKey }
    /// The vault that opens it.
    package var vault: VaultKind { record.vault }
    /// The private half, sealed by that vault.
    package var sealed: [UInt8] { record.sealed }
    /// What the readers kept, and keep unless somebody changed it, that it is sealed to as well.
    package var storage: [ReaderStorage] { record.storage }

    let record: SealedCredential
}

/// Whether an account can log in by finger, as far as the disk tells.
package enum CredentialState: Equatable, Sendable {
    /// Nothing was issued yet, or issuing was interrupted.
    case none
    /// Issued, and its public key is there. Whether it opens, only opening it tells.
    case issued(FoundCredential)
    /// The account, or root, switched it off.
    case disabled(since: Instant)
    /// It was destroyed, and why.
    case destroyed(InvalidationCause, since: Instant)
    /// The record is there and cannot be read.
    case damaged

    /// The vault of a credential that is there.
    package var vault: VaultKind? {
        if case .issued(let credential) = self { credential.vault } else { nil }
    }
}

/// A credential that is about to be made.
package struct CredentialDraft: Sendable {
    let identifier: [UInt8]
    /// What the vault has to seal it to.
    package let context: SealingContext
    let enrolment: Enrolment
    let storage: [ReaderStorage]
}

/// Issues, opens, disables and destroys the credential of an account for this machine.
///
/// The public key in `keys/` decides whether anybody accepts a signature: it goes first and comes
/// last, so a crash at any point leaves the old credential or none.
package struct CredentialStore: Sendable {
    let account: AccountState

    /// What is on disk. A sealed key without its public half, or with another's, is `.none`.
    package func state() throws(StoreFault) -> CredentialState {
        let record: CredentialRecord?
        do throws(StoreFault) {
            record = try account.directory.record(Self.name)
        } catch {
            guard error.isAboutContent else { throw error }
            return .damaged
        }
        switch record {
        case nil: return .none
        case .disabled(let since): return .disabled(since: since)
        case .destroyed(let cause, let since): return .destroyed(cause, since: since)
        case .sealed(let credential):
            let published = try files { () throws(FileFault) in
                try account.keys.read(
                    publicName, cap: SSHPublicKey.maximumLineLength, isPrivate: false)
            }
            guard published == publicLine(credential.publicKey, credential.identifier) else {
                return .none
            }
            return .issued(FoundCredential(record: credential))
        }
    }

    /// Makes a credential for the prints as they are now and publishes its public key.
    package func issue(
        _ enrolment: Enrolment, vault: some Vault, now: Instant
    ) throws(StoreFault) -> FoundCredential {
        let draft = try draft(enrolment)
        let made = try sealed { () throws(VaultError) in try vault.create(draft.context) }
        return try publish(draft, made, by: vault.kind, now: now)
    }

    /// What a vault is to make a credential for; nothing is written.
    package func draft(
        _ enrolment: Enrolment, covering storage: [ReaderStorage] = []
    ) throws(StoreFault) -> CredentialDraft {
        let identifier = try random(16)
        return CredentialDraft(
            identifier: identifier, context: try context(identifier, enrolment.state, storage),
            enrolment: enrolment, storage: storage)
    }

    /// Writes what a vault made for a draft, and publishes its public key.
    ///
    /// The old credential, if any, is gone from the first step on.
    package func publish(
        _ draft: CredentialDraft, _ made: NewCredential, by vault: VaultKind, now: Instant
    ) throws(StoreFault) -> FoundCredential {
        let identifier = draft.identifier
        guard let publicKey = SSHPublicKey(point: made.publicPoint) else {
            throw .vault(.malformed)
        }
        let host = try sealed { () throws(VaultError) in try account.host.identifier() }
        let credential = SealedCredential(
            identifier: identifier, created: now, publicKey: publicKey, vault: vault,
            sealed: made.sealed, enrolment: draft.enrolment.state, host: host,
            manifest: PrintManifest(draft.enrolment), storage: draft.storage)
        try removePublic()
        try register(publicKey, identifier)
        try account.directory.keep(CredentialRecord.sealed(credential), as: Self.name)
        let line = publicLine(publicKey, identifier)
        try files { () throws(FileFault) in
            try account.keys.replace(publicName, line, mode: 0o644)
        }
        return FoundCredential(record: credential)
    }

    /// What a credential must be opened with, under the prints as they are now and what readers
    /// keep: as the record has it, unless said otherwise.
    ///
    /// The vault opens it only if both are exactly what it was made for.
    package func context(
        of credential: FoundCredential, _ enrolment: Enrolment,
        covering storage: [ReaderStorage]? = nil
    ) throws(StoreFault) -> SealingContext {
        try context(
            credential.identifier, enrolment.state, storage ?? credential.record.storage)
    }

    /// Keeps the same key, which a vault has sealed anew for what the readers keep now.
    package func keep(
        _ credential: FoundCredential, resealed: [UInt8], covering storage: [ReaderStorage]
    ) throws(StoreFault) {
        guard try state() == .issued(credential) else { throw .changedMeanwhile }
        var record = credential.record
        record.sealed = resealed
        record.storage = storage
        try account.directory.keep(CredentialRecord.sealed(record), as: Self.name)
    }

    /// Keeps a template that the reader improved at a match, and seals the same key to the prints
    /// as they are then: the finger is the same, so login goes on.
    ///
    /// Throws `.vault(.doesNotOpen)`, with nothing changed, unless the credential opens for the
    /// prints as they are. A fault or crash halfway leaves a credential that does not open.
    package func improve(
        _ print: [UInt8], template: inout [UInt8], _ credential: FoundCredential,
        vault: some Vault
    ) throws(StoreFault) {
        let old = try context(of: credential, try account.prints.enrolment())
        let bytes = credential.record.sealed
        guard fits(credential, try account.prints.enrolment()) else {
            throw .vault(.doesNotOpen)
        }
        try account.prints.update(print, template: &template)
        let enrolment = try account.prints.enrolment()
        let new = try context(of: credential, enrolment)
        var record = credential.record
        record.sealed = try sealed { () throws(VaultError) in
            try vault.reseal(key: bytes, from: old, to: new)
        }
        record.enrolment = enrolment.state
        record.manifest = PrintManifest(enrolment)
        try account.directory.keep(CredentialRecord.sealed(record), as: Self.name)
    }

    /// Says why a credential does not fit the prints as they are now.
    ///
    /// Only for people: the records that it compares are not what decides.
    package func explain(
        _ credential: FoundCredential, _ enrolment: Enrolment
    ) throws(StoreFault) -> InvalidationCause {
        let host = try sealed { () throws(VaultError) in try account.host.identifier() }
        guard credential.record.host == host else { return .hostSecretChanged }
        guard enrolment.damaged.isEmpty else { return .printDamaged }
        return credential.record.manifest.difference(to: PrintManifest(enrolment))
            ?? (credential.record.enrolment == enrolment.state
                ? .credentialDamaged : .fingerReplaced)
    }

    /// Whether the prints are, as far as the records tell, those that the credential was made for.
    package func fits(_ credential: FoundCredential, _ enrolment: Enrolment) -> Bool {
        credential.record.enrolment == enrolment.state
    }

    /// Switches login by finger off: the public key first, then the private one.
    package func disable(now: Instant) throws(StoreFault) {
        try withdraw(.disabled(since: now))
    }

    /// Destroys the credential and remembers why: the public key first, then the private one.
    ///
    /// An empty file in the public key's place tells the PAM module that there is a reason to ask
    /// for; without it a module that finds no key asks nobody.
    package func destroy(_ cause: InvalidationCause, now: Instant) throws(StoreFault) {
        try withdraw(.destroyed(cause, since: now))
        try files { () throws(FileFault) in
            try account.keys.replace(AccountState.offName(account.uid), [], mode: 0o644)
        }
    }

    /// Takes the credential away without a reason to tell: no finger is left to log in with.
    package func withdraw() throws(StoreFault) {
        try removePublic()
        try files { () throws(FileFault) in try account.directory.remove(Self.name) }
    }

    /// All public keys that this account ever had, as an allowed_signers file; ssh-keygen(1).
    package func signers() throws(StoreFault) -> [UInt8] {
        try files { () throws(FileFault) in
            try account.directory.read(Self.signersName, cap: Self.signersLimit) ?? []
        }
    }

    private func withdraw(_ tombstone: CredentialRecord) throws(StoreFault) {
        try removePublic()
        try account.directory.keep(tombstone, as: Self.name)
    }

    private func removePublic() throws(StoreFault) {
        try files { () throws(FileFault) in
            try account.keys.remove(publicName)
            try account.keys.remove(AccountState.offName(account.uid))
        }
    }

    private func register(_ key: SSHPublicKey, _ identifier: [UInt8]) throws(StoreFault) {
        let options = StaticString(" namespaces=\"login@signet\" ").bytes
        var all = try signers()
        all += account.name + options + publicLine(key, identifier)
        guard all.count <= Self.signersLimit else {
            throw .damaged(path: account.directory.path + "/" + Self.signersName)
        }
        try files { () throws(FileFault) in try account.directory.replace(Self.signersName, all) }
    }

    /// The line that the PAM module reads: key, `signet:`, account, `:`, credential.
    private func publicLine(_ key: SSHPublicKey, _ identifier: [UInt8]) -> [UInt8] {
        let name = PercentEncoding.encode(account.name)
        let colon = UInt8(ascii: ":")
        return key.line(
            comment: StaticString("signet:").bytes + name + [colon]
                + Hexadecimal.encode(identifier))
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

    private var publicName: String { AccountState.publicName(account.uid) }
    private static let name = "credential"
    private static let signersName = "signers"
    /// Some 4,000 keys.
    private static let signersLimit = 1 << 20
}

extension PrintManifest {
    /// How another set of prints differs from this one; nil where it does not.
    func difference(to now: PrintManifest) -> InvalidationCause? {
        let before = Set(entries.map(\.identifier))
        let after = Set(now.entries.map(\.identifier))
        let isAdded = !after.isSubset(of: before)
        let isRemoved = !before.isSubset(of: after)
        switch (isAdded, isRemoved) {
        case (true, false): return .fingerAdded
        case (false, true): return .fingerRemoved
        case (true, true): return .fingerReplaced
        case (false, false): break
        }
        let isAltered = entries.contains { !now.entries.contains($0) }
        return isAltered ? .fingerReplaced : nil
    }
}
