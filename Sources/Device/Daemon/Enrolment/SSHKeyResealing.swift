// SPDX-License-Identifier: Apache-2.0
import Gate
import LoginProtocol
import MainContext
import Posix
import Sealing
import State

/// What vouches for a change of an account's fingers, beside the rule of the request.
///
/// Without any of it, root has asked for the change, or something that no password stands behind;
/// ssh keys are then destroyed by it.
struct ChangeApproval {
    /// The account's password, if it was given to signetd, for sealing the stored login password
    /// again.
    let password: VerifiedPassword?
    /// Evidence that a password authorised this change, for sealing ssh keys again.
    let change: AuthorizedChange?

    /// The approval of a change that only root asks for, or Signet itself.
    static let unvouched = ChangeApproval(nil as VerifiedPassword?)

    /// The approval of a request whose rule demands the password; nil from root, which gives none.
    init(_ password: VerifiedPassword?) {
        self.password = password
        change = password?.change
    }

    /// The approval of a request that polkit has authorised; nil if it asked for no password.
    init(_ change: AuthorizedChange?) {
        password = nil
        self.change = change
    }
}

extension FingerChanges {
    /// Seals the account's ssh keys to the fingers after an authorised change, beside what they are
    /// sealed to now.
    ///
    /// Called before the change takes effect, so that a crash on either side of that leaves keys
    /// that open to the fingers that count then, and to no others. A key that cannot be sealed is
    /// logged, and destroyed by the change.
    func sealSSHKeys(
        of account: Account, kept: AccountState, from before: Enrolment, to after: Enrolment,
        for change: AuthorizedChange?
    ) async throws(StoreFault) {
        guard let change, !after.isEmpty else { return }
        for key in try kept.sshKeys.list() where key.state == .good {
            do throws(StoreFault) {
                try await seal(key, in: kept.sshKeys, from: before, to: after, for: change)
                journal.credential(
                    of: account, change: "resealed",
                    because: "a password authorised the change of fingers; \(key.journalText)")
            } catch {
                journal.fault(
                    "\(key.journalText) could not be sealed again: \(error)", account: account.name)
            }
        }
    }

    private func seal(
        _ key: StoredSSHKey, in keys: SSHKeyStore, from before: Enrolment, to after: Enrolment,
        for change: AuthorizedChange
    ) async throws(StoreFault) {
        guard let sealed = key.sealed(for: before.state) else { return }
        let old = try keys.context(
            key.identifier, application: key.application, enrolment: before.state)
        let new = try keys.context(
            key.identifier, application: key.application, enrolment: after.state)
        let resealed: [UInt8]
        do throws(VaultError) {
            resealed = try await credentials.vaults.call(key.vault) { vault throws(VaultError) in
                try vault.reseal(key: sealed, from: old, to: new, for: change)
            }
        } catch { throw .vault(error) }
        // It may have signed or been removed while the vault was at work.
        guard let now = try keys.key(key.identifier) else { return }
        guard now.sealed(for: before.state) == sealed else { throw .changedMeanwhile }
        try keys.prepare(now, resealed: resealed, for: after.state)
    }

    /// The number of ssh keys that are not destroyed; zero, which is logged, if they cannot be read.
    func sshKeys(_ kept: AccountState) -> Int {
        do throws(StoreFault) {
            return try kept.sshKeys.list().count { $0.state == .good }
        } catch {
            journal.fault(error.description)
            return 0
        }
    }
}
