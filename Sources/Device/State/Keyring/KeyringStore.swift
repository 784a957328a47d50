// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import Sealing
import SignedFormats

/// A login password as stored on disk, still sealed.
package struct KeyringPassword: Equatable, Sendable {
    /// The item's id.
    ///
    /// It is unique to this password, and remains when the key is sealed again.
    package var identifier: KeyringItemID { record.identifier }
    /// The time at which it was stored.
    package var created: Instant { record.created }
    /// The vault that opens it.
    package var vault: VaultKind { record.vault }
    /// The sealed key, and the password that is encrypted with it.
    package var sealed: SealedContent { record.sealed }
    /// Whether this machine cannot notice a change of the password, because the account has no
    /// shadow(5) entry.
    ///
    /// The password must then be verified before it is used.
    package var isUnwatched: Bool { record.password.digest == nil }

    let record: SealedPassword
}

/// The state of an account's login password, as far as the files show it.
package enum KeyringFileState: Equatable, Sendable {
    /// No password was ever stored, or the user turned storing off.
    case off
    /// A password is stored.
    ///
    /// Only opening it shows whether it opens.
    case kept(KeyringPassword)
    /// The password was dropped for this reason.
    case dropped(KeyringLoss, since: Instant)
    /// The record exists but cannot be used.
    case damaged
}

/// The draft of a login password that is about to be stored.
///
/// It exists only in memory.
package struct KeyringDraft: Sendable {
    let identifier: KeyringItemID
    /// The context that the vault must seal the password to.
    package let context: SealingContext
    let password: PasswordState
}

/// Stores and drops an account's login password, which unlocks the keyring after a touch.
///
/// The password is sealed to the fingers, and stored with a digest of the account's shadow(5)
/// entry. `loss` reports when either has changed. Dropping the password records the reason for the
/// user.
package struct KeyringStore: Sendable {
    let account: AccountState

    /// Returns the state on disk.
    ///
    /// A damaged record is a state, not an error.
    package func state() throws(StoreFault) -> KeyringFileState {
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

    /// Drafts a password for these fingers.
    ///
    /// Writes nothing. `entry` is the account's shadow(5) entry. Read it before verifying the
    /// password, so that a change in between is noticed later.
    package func draft(
        _ enrolment: Enrolment, entry: ShadowEntry?
    ) throws(StoreFault) -> KeyringDraft {
        let identifier: KeyringItemID = try random()
        return KeyringDraft(
            identifier: identifier, context: try context(identifier, state: enrolment.state),
            password: try passwordState(entry, identifier: identifier))
    }

    /// Stores what a vault sealed for a draft, in place of any older password.
    package func keep(
        _ draft: KeyringDraft, sealed: SealedContent, by vault: VaultKind, now: Instant
    ) throws(StoreFault) {
        let password = SealedPassword(
            identifier: draft.identifier, created: now, vault: vault,
            enrolment: draft.context.enrolment, password: draft.password, sealed: sealed)
        try account.directory.keep(KeyringRecord.sealed(password), as: Self.name)
    }

    /// Returns the context to open a stored password with, for the present prints.
    package func context(
        of password: KeyringPassword, enrolment: Enrolment
    ) throws(StoreFault) -> SealingContext {
        try context(password.record.identifier, state: enrolment.state)
    }

    /// Returns the reason why a stored password is useless; nil if it may be usable.
    ///
    /// The reason comes from the records and shadow(5): the fingers or the account's password have
    /// changed.
    package func loss(
        of password: KeyringPassword, enrolment: Enrolment, entry: ShadowEntry?
    ) throws(StoreFault) -> KeyringLoss? {
        guard password.record.enrolment == enrolment.state else { return .fingersChanged }
        let now = try passwordState(entry, identifier: password.record.identifier)
        return now.equals(password.record.password) ? nil : .passwordChanged
    }

    /// Stores a password whose key another vault has sealed again for the same fingers.
    package func keep(
        _ password: KeyringPassword, resealed key: [UInt8], by vault: VaultKind
    ) throws(StoreFault) {
        var record = password.record
        record.sealed = SealedContent(key: key, content: password.sealed.content)
        record.vault = vault
        try account.directory.keep(KeyringRecord.sealed(record), as: Self.name)
    }

    /// Drops the password and records the reason, since the user asked for it to be stored.
    package func drop(_ loss: KeyringLoss, now: Instant) throws(StoreFault) {
        try account.directory.keep(KeyringRecord.dropped(loss, since: now), as: Self.name)
    }

    /// Removes the password or the reason why there is none; the state is then `.off`.
    package func remove() throws(StoreFault) {
        try files { () throws(FileFault) in try account.directory.remove(Self.name) }
    }

    private func passwordState(
        _ entry: ShadowEntry?, identifier: KeyringItemID
    ) throws(StoreFault) -> PasswordState {
        try sealed { () throws(VaultError) in
            try PasswordState(
                of: entry, account: account.sealedName, item: identifier, host: account.host)
        }
    }

    private func context(
        _ identifier: KeyringItemID, state: EnrolmentState
    ) throws(StoreFault) -> SealingContext {
        let context = SealingContext(
            account: account.sealedName, uid: account.uid, item: identifier,
            relyingParty: "local", use: .keyring, enrolment: state)
        guard let context else { throw .unsupportedName }
        return context
    }

    static let name = "keyring"
}
