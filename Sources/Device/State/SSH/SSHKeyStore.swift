// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import Sealing
import SignedFormats

/// Stores an account's ssh keys as files in `ssh-keys/`, named after the key's id.
///
/// It cannot open a key: a vault does that, for the right fingers.
package struct SSHKeyStore: Sendable {
    /// The maximum number of ssh keys of an account.
    package static let limit = 32
    static let directoryName = "ssh-keys"

    let account: AccountState

    /// Returns all keys, the oldest first.
    ///
    /// Unreadable ones are left out, since they open nothing.
    package func list() throws(StoreFault) -> [StoredSSHKey] {
        guard let directory = try directory() else { return [] }
        var keys: [StoredSSHKey] = []
        for name in try files({ () throws(FileFault) in try directory.list() }) {
            guard let identifier = SSHKeyID(hexadecimal: Array(name.utf8)) else { continue }
            if let key = try self.key(identifier) { keys.append(key) }
        }
        return keys.sorted {
            ($0.created.seconds, $0.identifier) < ($1.created.seconds, $1.identifier)
        }
    }

    /// Returns the key with this id; nil if it is missing or its file cannot be used.
    package func key(_ identifier: SSHKeyID) throws(StoreFault) -> StoredSSHKey? {
        guard let directory = try directory() else { return nil }
        do throws(StoreFault) {
            let key: StoredSSHKey? = try directory.record(fileName(identifier))
            // A file whose name is not that of its key was moved or copied.
            return key?.identifier == identifier ? key : nil
        } catch {
            guard error.isAboutContent else { throw error }
            return nil
        }
    }

    /// Returns the context that a key is sealed to: account, key, application and fingers.
    package func context(
        _ identifier: SSHKeyID, application: SSHApplication, enrolment: EnrolmentState
    ) throws(StoreFault) -> SealingContext {
        let context = SealingContext(
            account: account.sealedName, uid: account.uid, item: identifier,
            relyingParty: String(decoding: application.bytes, as: UTF8.self),
            enrolment: enrolment)
        guard let context else { throw .unsupportedName }
        return context
    }

    /// Stores a new key, whose counter begins at zero.
    package func keep(
        _ made: NewCredential, as identifier: SSHKeyID, name: SSHKeyName,
        application: SSHApplication, context: SealingContext, by vault: VaultKind, now: Instant
    ) throws(StoreFault) -> StoredSSHKey {
        guard let publicKey = SSHPublicKey(point: made.publicPoint) else {
            throw .vault(.malformed)
        }
        let key = StoredSSHKey(
            identifier: identifier, name: name, created: now,
            publicKey: SSHSignerKey(key: publicKey, application: application), vault: vault,
            state: .good, counter: 0,
            sealing: StoredSSHKey.Sealing(enrolment: context.enrolment, key: made.sealed))
        try write(key)
        return key
    }

    /// Reserves the next counter durably.
    ///
    /// Call it before signing, so that no counter is signed twice. Throws `.damaged` if the key has
    /// signed four billion times.
    package func advance(_ key: StoredSSHKey) throws(StoreFault) -> StoredSSHKey {
        guard key.counter < UInt32.max else { throw .damaged(path: fileName(key.identifier)) }
        return try change(key) { $0.counter += 1 }
    }

    /// Deletes the private key because the fingers changed.
    ///
    /// The record remains, to explain the state to the user. Throws `.changedMeanwhile` unless the
    /// file still holds the key as it was read.
    package func invalidate(_ key: StoredSSHKey) throws(StoreFault) -> StoredSSHKey {
        try change(key) { next in
            next.state = .invalidated
            next.sealing = nil
            next.next = nil
        }
    }

    /// Stores, beside the key as it is, the same key as sealed to the fingers after an authorised
    /// change.
    ///
    /// Until the change takes effect the old sealing counts, and from then on this one: both are on
    /// disk in between, so that a crash at any point leaves one that opens. Throws
    /// `.changedMeanwhile` unless the file still holds the key as it was read.
    package func prepare(
        _ key: StoredSSHKey, resealed: [UInt8], for fingers: EnrolmentState
    ) throws(StoreFault) {
        _ = try change(key) { next in
            next.next = StoredSSHKey.Sealing(enrolment: fingers, key: resealed)
        }
    }

    /// Drops what a key was sealed to beside the present fingers, after a change of fingers or one
    /// that did not come about.
    ///
    /// Returns the key as it is then; does nothing unless it is sealed to these fingers.
    @discardableResult
    package func settle(
        _ key: StoredSSHKey, for fingers: EnrolmentState
    ) throws(StoreFault) -> StoredSSHKey {
        guard let pending = key.next, key.sealed(for: fingers) != nil else { return key }
        return try change(key) { next in
            if pending.enrolment == fingers { next.sealing = pending }
            next.next = nil
        }
    }

    /// Removes a key; does nothing if there is none with this id.
    package func remove(_ identifier: SSHKeyID) throws(StoreFault) {
        guard let directory = try directory() else { return }
        try files { () throws(FileFault) in try directory.remove(fileName(identifier)) }
    }

    /// Changes a key.
    ///
    /// Throws `.changedMeanwhile`, with nothing changed, unless the file still holds the key as it
    /// was read.
    private func change(
        _ key: StoredSSHKey, _ body: (inout StoredSSHKey) -> Void
    ) throws(StoreFault) -> StoredSSHKey {
        guard try self.key(key.identifier) == key else { throw .changedMeanwhile }
        var next = key
        body(&next)
        try write(next)
        return next
    }

    private func write(_ key: StoredSSHKey) throws(StoreFault) {
        let directory = try files { () throws(FileFault) in
            try account.directory.makeDirectory(Self.directoryName, mode: 0o700)
        }
        try directory.keep(key, as: fileName(key.identifier))
    }

    /// Returns the directory; nil if no key was ever stored.
    private func directory() throws(StoreFault) -> Directory? {
        do throws(FileFault) {
            return try account.directory.directory(Self.directoryName)
        } catch {
            if error.isMissing { return nil }
            throw .file(error)
        }
    }

    private func fileName(_ identifier: SSHKeyID) -> String {
        String(decoding: identifier.hexadecimal, as: UTF8.self)
    }
}
