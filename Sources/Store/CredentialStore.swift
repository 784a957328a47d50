// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import LoginProtocol
import Posix
import SignedFormats
import Vault

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

/// How an account's credential stands, as far as the disk tells.
package enum CredentialState: Equatable, Sendable {
    /// Nothing was issued yet, or issuing was interrupted.
    case none
    /// Issued, and its public key is there. Whether it opens, only opening it tells.
    case issued(FoundCredential)
    /// Issued, but not for the prints as they are now. Login is denied for this reason, and the next
    /// login or change destroys the credential; reading the state does not.
    case unfit(InvalidationCause)
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

/// The credential of an account for this machine: reads it, recovers it after a crash, ends it.
///
/// The record `credential` decides; the public key in `keys/`, which the PAM module reads, follows
/// it. `state` reads and writes nothing. `recover` completes what a crash left between the two.
/// `disable`, `destroy` and `withdraw` end the credential.
package struct CredentialStore: Sendable {
    let account: AccountState

    /// How the credential stands for the prints as they are now. Writes nothing.
    package func state() throws(StoreFault) -> CredentialState {
        try state(for: account.prints.enrolment())
    }

    /// How the credential stands for prints that were just read. Writes nothing.
    ///
    /// A sealed key without its public half, or with another's, is `.none`; so is whatever is left
    /// where no print counts. A change that a crash interrupted counts as `recover` will complete it.
    /// Whether an issued credential fits the prints is not looked at: see `judgement(on:)`.
    package func state(for enrolment: Enrolment) throws(StoreFault) -> CredentialState {
        if enrolment.isNothing { return .none }
        switch try stored() {
        case .nothing: return .none
        case .unreadable: return .damaged
        case .record(.disabled(let since)): return .disabled(since: since)
        case .record(.destroyed(let cause, let since)): return .destroyed(cause, since: since)
        case .record(.changing(let former, let next)):
            if fits(FoundCredential(record: next), enrolment) {
                return .issued(FoundCredential(record: next))
            }
            guard let former else { return .none }
            return try state(of: former)
        case .record(.sealed(let credential)): return try state(of: credential)
        }
    }

    /// How the credential stands, judged by prints that were just read. Writes nothing.
    ///
    /// One that does not fit them, and one whose record is damaged, is `.unfit`.
    package func judgement(on enrolment: Enrolment) throws(StoreFault) -> CredentialState {
        let found = try state(for: enrolment)
        switch found {
        case .none, .unfit, .disabled, .destroyed: return found
        case .damaged: return .unfit(.credentialDamaged)
        case .issued(let credential):
            if fits(credential, enrolment) { return found }
            return .unfit(try explain(credential, enrolment))
        }
    }

    /// Completes what a crash left half-made, for prints that were just read, and gives the state
    /// then.
    @discardableResult
    package func recover(for enrolment: Enrolment) throws(StoreFault) -> CredentialState {
        guard !enrolment.isNothing else {
            try withdraw()
            return .none
        }
        switch try stored() {
        case .nothing: return .none
        case .unreadable: return .damaged
        case .record(.disabled(let since)):
            try unpublish()
            return .disabled(since: since)
        case .record(.destroyed(let cause, let since)):
            try unpublish(leavingMark: true)
            return .destroyed(cause, since: since)
        case .record(.changing(let former, let next)):
            guard let left = try settle(former, next, enrolment) else { return .none }
            return try state(of: left)
        case .record(.sealed(let credential)): return try state(of: credential)
        }
    }

    /// Completes what a crash left half-made, as far as that does not depend on what the prints are.
    func recoverWithoutPrints() throws(StoreFault) {
        guard try account.prints.count() > 0 else { return try withdraw() }
        switch try stored() {
        case .record(.disabled): try unpublish()
        case .record(.destroyed): try unpublish(leavingMark: true)
        case .nothing, .unreadable, .record(.changing), .record(.sealed): break
        }
    }

    /// What the record `credential` is found to be.
    private enum Stored {
        case nothing
        case unreadable
        case record(CredentialRecord)
    }

    private func stored() throws(StoreFault) -> Stored {
        do throws(StoreFault) {
            let record: CredentialRecord? = try account.directory.record(Self.name)
            return record.map(Stored.record) ?? .nothing
        } catch {
            guard error.isAboutContent else { throw error }
            return .unreadable
        }
    }

    /// How it stands by its record alone: for people, where the prints cannot be opened now.
    package func recorded() throws(StoreFault) -> CredentialState {
        let record: CredentialRecord? = try account.directory.record(Self.name)
        switch record {
        case nil, .changing(nil, _): return .none
        case .disabled(let since): return .disabled(since: since)
        case .destroyed(let cause, let since): return .destroyed(cause, since: since)
        case .changing(let former?, _): return try state(of: former)
        case .sealed(let credential): return try state(of: credential)
        }
    }

    /// Says why a credential does not fit the prints as they are now.
    ///
    /// Only for people: the records that it compares are not what decides.
    package func explain(
        _ credential: FoundCredential, _ enrolment: Enrolment
    ) throws(StoreFault) -> InvalidationCause {
        let host = try sealed { () throws(VaultError) in try account.host.identifier() }
        guard credential.record.host == host else { return .hostSecretChanged }
        // Fingerprints do not open either then.
        if isOfAnotherTPM(credential) { return .tpmExchanged }
        guard enrolment.damaged.isEmpty else { return .printDamaged }
        let before = credential.record.manifest
        if let change = before.difference(to: PrintManifest(enrolment)) { return change }
        guard fits(credential, enrolment) else { return .fingerReplaced }
        return .credentialDamaged
    }

    /// Whether the key was made under another storage root key than the one that is trusted now.
    private func isOfAnotherTPM(_ credential: FoundCredential) -> Bool {
        guard credential.vault == .tpm, let trusted = try? account.rootPin.load(),
            let sealed = try? TPMSealed(credential.sealed, as: .key)
        else { return false }
        return sealed.root != trusted
    }

    /// Whether the prints are, as far as the records tell, those that the credential was made for.
    package func fits(_ credential: FoundCredential, _ enrolment: Enrolment) -> Bool {
        credential.record.enrolment == enrolment.state
    }

    /// Switches login by finger off: the private key first, then the public one, which is good for
    /// nothing without it.
    package func disable(now: Instant) throws(StoreFault) {
        try account.directory.keep(CredentialRecord.disabled(since: now), as: Self.name)
        try unpublish()
    }

    /// Destroys the credential and remembers why: the private key first, then the public one.
    ///
    /// An empty file in the public key's place tells the PAM module that there is a reason to ask
    /// for; without it a module that finds no key asks nobody.
    package func destroy(_ cause: InvalidationCause, now: Instant) throws(StoreFault) {
        try account.directory.keep(CredentialRecord.destroyed(cause, since: now), as: Self.name)
        try unpublish(leavingMark: true)
    }

    /// Takes the credential away without a reason to tell: no finger is left to log in with.
    package func withdraw() throws(StoreFault) {
        try files { () throws(FileFault) in
            if try account.directory.contains(Self.name) {
                try account.directory.remove(Self.name)
            }
        }
        try unpublish()
    }

    /// All public keys that this account ever had, as an allowed_signers file; ssh-keygen(1).
    ///
    /// Version 0.1.0 wrote lines for logins only; its keys release secrets as well.
    package func signers() throws(StoreFault) -> [UInt8] {
        let kept = try files { () throws(FileFault) in
            try account.directory.read(Self.signersName, cap: Self.signersLimit) ?? []
        }
        return RegisteredSigner.upgraded(file: kept, account: account.name)
    }

    private func state(
        of credential: SealedCredential
    ) throws(StoreFault) -> CredentialState {
        guard try published() == publicLine(of: credential) else { return .none }
        return .issued(FoundCredential(record: credential))
    }

    /// Takes the public key away, and puts or takes away the mark that it was destroyed; what is as
    /// it should be is left alone.
    private func unpublish(leavingMark: Bool = false) throws(StoreFault) {
        let mark = AccountState.offName(account.uid)
        try files { () throws(FileFault) in
            if try account.keys.contains(publicName) { try account.keys.remove(publicName) }
            switch (try account.keys.contains(mark), leavingMark) {
            case (true, true), (false, false): break
            case (true, false): try account.keys.remove(mark)
            case (false, true): try account.keys.replace(mark, [], mode: 0o644)
            }
        }
    }

    /// The line in `keys/`, nil where there is none.
    func published() throws(StoreFault) -> [UInt8]? {
        try files { () throws(FileFault) in
            try account.keys.read(
                publicName, cap: SSHPublicKey.maximumLineLength, isPrivate: false)
        }
    }

    /// The line that the PAM module reads: key, `signet:`, account, `:`, credential.
    func publicLine(of credential: SealedCredential) -> [UInt8] {
        let name = PercentEncoding.encode(account.name)
        let colon = UInt8(ascii: ":")
        return credential.publicKey.line(
            comment: StaticString("signet:").bytes + name + [colon]
                + Hexadecimal.encode(credential.identifier))
    }

    var publicName: String { AccountState.publicName(account.uid) }
    static let name = "credential"
    static let signersName = "signers"
    /// Some 4,000 keys.
    static let signersLimit = 1 << 20
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
