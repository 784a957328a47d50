// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import MainContext
import Posix
import Sealing
import State

/// The account's ssh keys: they outlive a change of fingers that a password has authorised, and are
/// destroyed by every other.
struct SSHKeyHolding: FingerBound {
    static let ending = Ending.key

    private let journal: DecisionJournal
    private let vaults: Vaults
    private let underWay: ChangesUnderWay

    init(_ parts: HoldingParts) {
        journal = parts.journal
        vaults = parts.vaults
        underWay = parts.underWay
    }
}

extension SSHKeyHolding {
    /// Seals the keys to the fingers after the change, beside what they are sealed to now.
    ///
    /// What an earlier change has left is dropped first, so that only this one vouches. A key that
    /// cannot be sealed is logged, and destroyed by the change.
    func prepare(_ change: ChangeOfFingers, of holder: Holder) async throws(StoreFault) {
        try settle(holder, for: change.before, isWhole: true)
        guard let authorization = change.authorization, !change.after.isEmpty else { return }
        let keys = holder.kept.sshKeys
        for key in try keys.list() where key.state == .good {
            do throws(StoreFault) {
                try await seal(key, in: keys, change: change, for: authorization)
                journal.credential(
                    of: holder.account, change: "resealed",
                    because: "a password authorised the change of fingers; \(key.journalText)")
            } catch {
                journal.fault(
                    "\(key.journalText) could not be sealed again: \(error)",
                    account: holder.account.name)
            }
        }
    }

    private func seal(
        _ key: StoredSSHKey, in keys: SSHKeyStore, change: ChangeOfFingers,
        for authorization: AuthorizedChange
    ) async throws(StoreFault) {
        guard let sealed = key.sealed(for: change.before.state) else { return }
        let old = try keys.context(
            key.identifier, application: key.application, enrolment: change.before.state)
        let new = try keys.context(
            key.identifier, application: key.application, enrolment: change.after.state)
        let resealed: [UInt8]
        do throws(VaultError) {
            resealed = try await vaults.call(key.vault) { vault throws(VaultError) in
                try vault.reseal(key: sealed, from: old, to: new, for: authorization)
            }
        } catch { throw .vault(error) }
        // It may have signed or been removed while the vault was at work.
        guard let now = try keys.key(key.identifier) else { return }
        guard now.sealed(for: change.before.state) == sealed else { throw .changedMeanwhile }
        try keys.prepare(now, resealed: resealed, for: change.after.state)
    }

    /// Destroys the keys that do not fit the fingers, and drops what an authorised change that was
    /// interrupted has left of the others.
    ///
    /// While a change is in progress, nothing of it is dropped: any request may come meanwhile.
    func settle(_ holder: Holder, for fingers: Enrolment) throws(StoreFault) {
        try settle(holder, for: fingers, isWhole: !underWay.includes(holder.account))
    }

    private func settle(
        _ holder: Holder, for fingers: Enrolment, isWhole: Bool
    ) throws(StoreFault) {
        for key in try holder.kept.sshKeys.list() where key.state == .good {
            if key.sealed(for: fingers.state) == nil {
                try invalidate(key, of: holder)
            } else if isWhole {
                try holder.kept.sshKeys.settle(key, for: fingers.state)
            }
        }
    }

    func revoke(_ holder: Holder) throws(StoreFault) {
        for key in try holder.kept.sshKeys.list() where key.state == .good {
            try invalidate(key, of: holder)
        }
    }

    /// Destroys a key that no longer opens, and logs that; its record stays, so that lists can show
    /// the key as invalidated.
    func invalidate(_ key: StoredSSHKey, of holder: Holder) throws(StoreFault) {
        journal.credential(
            of: holder.account, change: "destroyed",
            because: "the fingers changed; \(key.journalText)")
        _ = try holder.kept.sshKeys.invalidate(key)
    }

    /// Each key stays in the vault that made it.
    func move(_: Holder, for _: Enrolment, to _: VaultKind) {}

    func count(_ kept: AccountState, fitting fingers: EnrolmentState?) throws(StoreFault) -> Int {
        try kept.sshKeys.list().count {
            fingers == nil ? $0.state == .good : $0.shown(fitting: fingers).state == .good
        }
    }

    func effects(
        of change: ForetoldChange, on kept: AccountState, fitting fingers: EnrolmentState?
    ) throws(StoreFault) -> [ChangeEffectAnswer] {
        let count = try count(kept, fitting: fingers)
        guard count > 0 else { return [] }
        return [
            ChangeEffectAnswer(
                "sshKey", count: UInt32(clamping: count),
                stays: change.isAuthorized && change.leavesFinger)
        ]
    }

    /// They have a list of their own.
    func show(
        _: Holder, for _: Enrolment, credential _: CredentialFileState, in _: inout AccountReport
    ) {}

    func report(_ change: (before: Int, after: Int), in done: inout DoneAnswer) {
        let (before, after) = change
        done.sshKeysKept = after > 0 ? UInt32(clamping: after) : nil
        done.sshKeysEnded = before > after ? UInt32(clamping: before - after) : nil
    }
}

extension StoredSSHKey {
    /// The key's description for the journal.
    var journalText: String { "the ssh key \(String(decoding: name.bytes, as: UTF8.self))" }
}
