// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats
import Vault

/// A login password as it was found on disk.
package struct KeyringPassword: Equatable, Sendable {
    /// Its id, 16 bytes: it stays where the key is sealed anew, and no other password gets it.
    package var identifier: [UInt8] { record.identifier }
    /// When it was kept.
    package var created: Instant { record.created }
    /// The vault that opens it.
    package var vault: VaultKind { record.vault }
    /// Its key, sealed by that vault, and the password under it.
    package var sealed: SealedContent { record.sealed }
    /// Whether nothing on this machine tells when it is changed: it has to be tried before use.
    package var isUnwatched: Bool { record.password.digest == nil }

    let record: SealedPassword
}

/// Whether an account's login password is kept, as far as the disk tells.
package enum KeyringState: Equatable, Sendable {
    /// It was never to be kept, or is not to be kept any more.
    case off
    /// It is kept. Whether it opens, only opening it tells.
    case kept(KeyringPassword)
    /// It was dropped, and why.
    case dropped(KeyringLoss, since: Instant)
    /// The record is there and cannot be read.
    case damaged
}

/// A login password that is about to be kept.
package struct KeyringDraft: Sendable {
    let identifier: [UInt8]
    /// What the vault has to seal it to.
    package let context: SealingContext
    let password: PasswordState
}

/// Keeps and drops the login password of an account, for the keyring.
package struct KeyringStore: Sendable {
    let account: AccountState

    /// What is on disk.
    package func state() throws(StoreFault) -> KeyringState {
        let record: KeyringRecord?
        do throws(StoreFault) {
            record = try account.directory.record(Self.name)
        } catch {
            guard error.isAboutContent else { throw error }
            return .damaged
        }
        switch record {
        case nil: return .off
        case .sealed(let password): return .kept(KeyringPassword(record: password))
        case .dropped(let loss, let since): return .dropped(loss, since: since)
        }
    }

    /// What a vault is to seal a password to, for these fingers; nothing is written.
    ///
    /// `entry` is what shadow(5) says of the account now, before the password is verified.
    package func draft(
        _ enrolment: Enrolment, _ entry: ShadowEntry?
    ) throws(StoreFault) -> KeyringDraft {
        let identifier = try random(16)
        return KeyringDraft(
            identifier: identifier, context: try context(identifier, enrolment.state),
            password: try passwordState(entry, identifier))
    }

    /// Keeps what a vault sealed for a draft, in the place of any older one.
    package func keep(
        _ draft: KeyringDraft, _ sealed: SealedContent, by vault: VaultKind, now: Instant
    ) throws(StoreFault) {
        let password = SealedPassword(
            identifier: draft.identifier, created: now, vault: vault,
            enrolment: draft.context.enrolment, password: draft.password, sealed: sealed)
        try account.directory.keep(KeyringRecord.sealed(password), as: Self.name)
    }

    /// What a kept password must be opened with, under the prints as they are now.
    package func context(
        of password: KeyringPassword, _ enrolment: Enrolment
    ) throws(StoreFault) -> SealingContext {
        try context(password.record.identifier, enrolment.state)
    }

    /// Why a kept password is of no use, as far as records and shadow(5) tell; nil if it may be.
    package func loss(
        of password: KeyringPassword, _ enrolment: Enrolment, _ entry: ShadowEntry?
    ) throws(StoreFault) -> KeyringLoss? {
        guard password.record.enrolment == enrolment.state else { return .fingersChanged }
        let now = try passwordState(entry, password.record.identifier)
        return now.equals(password.record.password) ? nil : .passwordChanged
    }

    /// Keeps a password whose key was sealed anew for the same fingers, by another vault.
    package func keep(
        _ password: KeyringPassword, resealed key: [UInt8], by vault: VaultKind
    ) throws(StoreFault) {
        var record = password.record
        record.sealed = SealedContent(key: key, content: password.sealed.content)
        record.vault = vault
        try account.directory.keep(KeyringRecord.sealed(record), as: Self.name)
    }

    /// Drops the password and remembers why: the account had wanted it to be kept.
    package func drop(_ loss: KeyringLoss, now: Instant) throws(StoreFault) {
        try account.directory.keep(KeyringRecord.dropped(loss, since: now), as: Self.name)
    }

    /// Drops the password, if there is one, and that it was wanted.
    package func remove() throws(StoreFault) {
        try files { () throws(FileFault) in try account.directory.remove(Self.name) }
    }

    private func passwordState(
        _ entry: ShadowEntry?, _ identifier: [UInt8]
    ) throws(StoreFault) -> PasswordState {
        try sealed { () throws(VaultError) in
            try PasswordState(
                of: entry, account: account.name, item: identifier, host: account.host)
        }
    }

    private func context(
        _ identifier: [UInt8], _ state: EnrolmentState
    ) throws(StoreFault) -> SealingContext {
        let context = SealingContext(
            account: account.name, uid: account.uid, credential: identifier,
            relyingParty: "local", use: .keyring, enrolment: state)
        guard let context else { throw .unsupportedName }
        return context
    }

    static let name = "keyring"
}
