// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import LoginProtocol
import Posix
import Sealing
import SignedFormats

/// A credential as stored on disk, with its private key still sealed.
package struct StoredCredential: Equatable, Sendable {
    /// The credential's id.
    package var identifier: CredentialID { record.identifier }
    /// The time of creation.
    package var created: Instant { record.created }
    /// The public key, as published in `keys/`.
    package var publicKey: SSHPublicKey { record.publicKey }
    /// The vault that opens the key.
    package var vault: VaultKind { record.vault }
    /// The private key, sealed by that vault.
    package var sealed: [UInt8] { record.sealed }
    /// The contents of readers that the key is sealed to as well.
    package var storage: [ReaderStorage] { record.storage }

    let record: SealedCredential
}

/// The state of an account's credential, as far as the files show it.
package enum CredentialFileState: Equatable, Sendable {
    /// No credential was issued, or issuing it was interrupted.
    case none
    /// A credential is issued and its public key published.
    ///
    /// Only opening the key shows whether it opens.
    case issued(StoredCredential)
    /// A credential is issued, but not for the present prints.
    ///
    /// Login is denied for this reason. The next login or change destroys the credential; reading
    /// the state does not.
    case unfit(InvalidationCause)
    /// The user or root disabled login by finger.
    case disabled(since: Instant)
    /// The credential was destroyed for this reason.
    case destroyed(InvalidationCause, since: Instant)
    /// The record exists but cannot be used.
    case damaged

    /// The vault of an issued credential.
    package var vault: VaultKind? {
        if case .issued(let credential) = self { credential.vault } else { nil }
    }
}

/// The credential of an account for this machine.
///
/// The record `credential` is authoritative; the public key in `keys/`, which the PAM module reads,
/// is derived from it. `state` and `judgement` only read. `recover` completes what a crash
/// interrupted between the two files. `disable`, `destroy` and `withdraw` end the credential.
///
/// A failing disk throws `.file`. A damaged record is the state `.damaged`, except in `recorded`,
/// which throws.
package struct CredentialStore: Sendable {
    let account: AccountState

    /// Returns the state for the present prints.
    ///
    /// Writes nothing.
    package func state() throws(StoreFault) -> CredentialFileState {
        try state(for: account.prints.enrolment())
    }

    /// Returns the state for prints that were just read.
    ///
    /// Writes nothing. A sealed key whose public key is missing from `keys/`, or is a different one
    /// there, counts as `.none`. The state is also `.none` if no print is listed. An interrupted
    /// change is reported as `recover` will leave it. Whether an issued credential fits the prints
    /// is not examined; see `judgement(on:)`.
    package func state(for enrolment: Enrolment) throws(StoreFault) -> CredentialFileState {
        if enrolment.isNothing { return .none }
        switch try stored() {
        case .nothing: return .none
        case .unreadable: return .damaged
        case .record(.disabled(let since)): return .disabled(since: since)
        case .record(.destroyed(let cause, let since)): return .destroyed(cause, since: since)
        case .record(.changing(let former, let next)):
            if fits(StoredCredential(record: next), enrolment: enrolment) {
                return .issued(StoredCredential(record: next))
            }
            guard let former else { return .none }
            return try state(of: former)
        case .record(.sealed(let credential)): return try state(of: credential)
        }
    }

    /// Returns the state for prints that were just read, including whether the credential fits
    /// them.
    ///
    /// Writes nothing. A credential that does not fit the prints, or whose record is damaged, is
    /// `.unfit`.
    package func judgement(on enrolment: Enrolment) throws(StoreFault) -> CredentialFileState {
        let found = try state(for: enrolment)
        switch found {
        case .none, .unfit, .disabled, .destroyed: return found
        case .damaged: return .unfit(.credentialDamaged)
        case .issued(let credential):
            if fits(credential, enrolment: enrolment) { return found }
            return .unfit(try explain(credential, enrolment: enrolment))
        }
    }

    /// Completes what a crash interrupted, for prints that were just read.
    ///
    /// Returns the resulting state. Without any listed print the credential is withdrawn; the
    /// public key of a disabled or destroyed credential is removed; and a change in progress is
    /// completed or dropped.
    @discardableResult
    package func recover(for enrolment: Enrolment) throws(StoreFault) -> CredentialFileState {
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
            guard let left = try settle(former, next: next, enrolment: enrolment) else {
                return .none
            }
            return try state(of: left)
        case .record(.sealed(let credential)): return try state(of: credential)
        }
    }

    /// Completes the changes that do not depend on the contents of the prints.
    func recoverWithoutPrints() throws(StoreFault) {
        guard try account.prints.count() > 0 else { return try withdraw() }
        switch try stored() {
        case .record(.disabled): try unpublish()
        case .record(.destroyed): try unpublish(leavingMark: true)
        case .nothing, .unreadable, .record(.changing), .record(.sealed): break
        }
    }

    /// The contents of the record `credential`.
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

    /// Returns the state according to the record alone, for reports while the prints cannot be
    /// opened.
    ///
    /// Throws `.damaged` for a damaged record.
    package func recorded() throws(StoreFault) -> CredentialFileState {
        let record: CredentialRecord? = try account.directory.record(Self.name)
        switch record {
        case nil, .changing(nil, _): return .none
        case .disabled(let since): return .disabled(since: since)
        case .destroyed(let cause, let since): return .destroyed(cause, since: since)
        case .changing(let former?, _): return try state(of: former)
        case .sealed(let credential): return try state(of: credential)
        }
    }

    /// Returns the reason why a credential does not fit the present prints, for users.
    ///
    /// It only explains: the records that it compares decide nothing. `.credentialDamaged` is the
    /// reason if no difference is found.
    package func explain(
        _ credential: StoredCredential, enrolment: Enrolment
    ) throws(StoreFault) -> InvalidationCause {
        let host = try sealed { () throws(VaultError) in try account.host.identifier() }
        guard credential.record.host == host else { return .hostSecretChanged }
        // Check this before the prints, which do not open in this case either.
        if isOfAnotherTPM(credential) { return .tpmExchanged }
        guard enrolment.damaged.isEmpty else { return .printDamaged }
        let before = credential.record.manifest
        if let change = before.difference(to: PrintManifest(enrolment)) { return change }
        guard fits(credential, enrolment: enrolment) else { return .fingerReplaced }
        return .credentialDamaged
    }

    /// Whether the key was created under a storage root key other than the pinned one.
    private func isOfAnotherTPM(_ credential: StoredCredential) -> Bool {
        guard credential.vault == .tpm, let trusted = try? account.rootPin.load(),
            let sealed = try? TPMSealed(credential.sealed, as: .key)
        else { return false }
        return sealed.root != trusted
    }

    /// Whether the credential was created for these prints, according to its record.
    ///
    /// Only opening the key proves it.
    package func fits(_ credential: StoredCredential, enrolment: Enrolment) -> Bool {
        credential.record.enrolment == enrolment.state
    }

    /// Disables login by finger at the request of the user or root.
    ///
    /// The private key is deleted first, then the public key, which is useless without it.
    package func disable(now: Instant) throws(StoreFault) {
        try account.directory.keep(CredentialRecord.disabled(since: now), as: Self.name)
        try unpublish()
    }

    /// Destroys the credential and records the reason.
    ///
    /// The private key is deleted first, then the public key. An empty file, `keys/<uid>.off`,
    /// tells the PAM module that the daemon knows a reason; a module that finds neither the key nor
    /// this file does not ask the daemon.
    package func destroy(_ cause: InvalidationCause, now: Instant) throws(StoreFault) {
        try account.directory.keep(CredentialRecord.destroyed(cause, since: now), as: Self.name)
        try unpublish(leavingMark: true)
    }

    /// Removes the credential without recording a reason, since there is no finger left to log in
    /// with.
    package func withdraw() throws(StoreFault) {
        try files { () throws(FileFault) in
            if try account.directory.contains(Self.name) {
                try account.directory.remove(Self.name)
            }
        }
        try unpublish()
    }

    /// Returns all public keys that this account ever had, as an allowed_signers file;
    /// ssh-keygen(1).
    ///
    /// Version 0.1.0 wrote lines for logins only, later ones for logins and secrets. They are
    /// upgraded, since these keys confirm touches for desktops too.
    package func signers() throws(StoreFault) -> [UInt8] {
        let kept = try files { () throws(FileFault) in
            try account.directory.read(Self.signersName, cap: Self.signersLimit) ?? []
        }
        return RegisteredSigner.upgraded(file: kept, account: account.name)
    }

    /// Returns `.issued` if the credential's public key is published, otherwise `.none`.
    private func state(
        of credential: SealedCredential
    ) throws(StoreFault) -> CredentialFileState {
        guard try published() == publicLine(of: credential) else { return .none }
        return .issued(StoredCredential(record: credential))
    }

    /// Removes the public key, and writes or removes `keys/<uid>.off`.
    ///
    /// Writes only what differs.
    private func unpublish(leavingMark: Bool = false) throws(StoreFault) {
        let mark = AccountState.offName(account.uid)
        try files { () throws(FileFault) in
            if try account.keys.contains(publicName) { try account.keys.remove(publicName) }
            switch (try account.keys.contains(mark), leavingMark) {
            case (true, true), (false, false): break
            case (true, false): try account.keys.remove(mark)
            case (false, true): try account.keys.replace(mark, bytes: [], mode: 0o644)
            }
        }
    }

    /// Returns the public key's line in `keys/`; nil if there is none.
    func published() throws(StoreFault) -> [UInt8]? {
        try files { () throws(FileFault) in
            try account.keys.read(
                publicName, cap: SSHPublicKey.maximumLineLength, isPrivate: false)
        }
    }

    /// Returns the line that the PAM module reads: the key, and the comment
    /// `signet:ACCOUNT:CREDENTIAL`.
    func publicLine(of credential: SealedCredential) -> [UInt8] {
        let name = PercentEncoding.encode(account.name.bytes)
        let colon = UInt8(ascii: ":")
        return credential.publicKey.line(
            comment: StaticString("signet:").bytes + name + [colon]
                + credential.identifier.hexadecimal)
    }

    var publicName: String { AccountState.publicName(account.uid) }
    static let name = "credential"
    static let signersName = "signers"
    /// The maximum length of `signers` in bytes, enough for some 4,000 keys.
    static let signersLimit = 1 << 20
}

extension PrintManifest {
    /// Returns how another set of prints differs from this one; nil if it is the same.
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
