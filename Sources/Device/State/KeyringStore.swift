// SPDX-License-Identifier: Apache-2.0
import Posix
import Sealing
import SignedFormats

/// A login password as found on disk.
package struct KeyringPassword: Equatable, Sendable {
    /// The item's id, 16 bytes. It remains when the key is sealed again, and is unique to this
    /// password.
    package var identifier: [UInt8] { record.identifier }
    /// The time at which it was stored.
    package var created: Instant { record.created }
    /// The vault that opens it.
    package var vault: VaultKind { record.vault }
    /// Its key, sealed by that vault, and the password encrypted with the key.
    package var sealed: SealedContent { record.sealed }
    /// Whether this machine cannot tell when the password is changed, so that it must be verified
    /// before use.
    package var isUnwatched: Bool { record.password.digest == nil }

    let record: SealedPassword
}

/// The state of an account's login password, as far as it can be told from the disk.
package enum KeyringState: Equatable, Sendable {
    /// It was never stored, or the user turned storing off.
    case off
    /// It is stored. Whether it opens is known only after opening it.
    case kept(KeyringPassword)
    /// It was dropped for this reason.
    case dropped(KeyringLoss, since: Instant)
    /// The record exists and cannot be read.
    case damaged
}

/// The draft of a login password that is about to be stored.
package struct KeyringDraft: Sendable {
    let identifier: [UInt8]
    /// The context that the vault must seal it to.
    package let context: SealingContext
    let password: PasswordState
}

/// Stores and drops an account's login password, which unlocks the keyring after a touch.
///
/// The password is sealed to the fingers and tied to a digest of the shadow(5) entry; `loss`
/// reports when either has changed. Dropping it records the reason, so that the user can be told.
package struct KeyringStore: Sendable {
    let account: AccountState

    /// Returns the state on disk. A damaged record is a state, not an error.
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

    /// Drafts a password for these fingers. Writes nothing.
    ///
    /// `entry` is the account's shadow(5) entry, read before the password is verified, so that a
    /// change in between is noticed later.
    package func draft(
        _ enrolment: Enrolment, entry: ShadowEntry?
    ) throws(StoreFault) -> KeyringDraft {
        let identifier = try random(16)
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

    /// Returns why a stored password is useless according to the records and shadow(5); nil if it
    /// may be usable.
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

    /// Drops the password and records the reason, since the user had asked for it to be stored.
    package func drop(_ loss: KeyringLoss, now: Instant) throws(StoreFault) {
        try account.directory.keep(KeyringRecord.dropped(loss, since: now), as: Self.name)
    }

    /// Removes the password, if there is one, and the record that the user wants it stored.
    package func remove() throws(StoreFault) {
        try files { () throws(FileFault) in try account.directory.remove(Self.name) }
    }

    private func passwordState(
        _ entry: ShadowEntry?, identifier: [UInt8]
    ) throws(StoreFault) -> PasswordState {
        try sealed { () throws(VaultError) in
            try PasswordState(
                of: entry, account: account.name, item: identifier, host: account.host)
        }
    }

    private func context(
        _ identifier: [UInt8], state: EnrolmentState
    ) throws(StoreFault) -> SealingContext {
        let context = SealingContext(
            account: account.name, uid: account.uid, credential: identifier,
            relyingParty: "local", use: .keyring, enrolment: state)
        guard let context else { throw .unsupportedName }
        return context
    }

    static let name = "keyring"
}
