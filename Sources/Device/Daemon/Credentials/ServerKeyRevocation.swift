// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import Sealing
import State

/// Ends an account's keys for servers, its signing key and its ssh keys.
///
/// A key ends when the fingers that it is sealed to have changed, or when its server no longer
/// accepts it. The account's MAC tokens and session tokens that depend on the key end with it.
/// `revokeUnfitServerKeys` spares a key whose registration is in progress (`isProving`) until its
/// server has answered; `invalidateServerKeys` does not.
@ServiceActor
final class ServerKeyRevocation {
    let journal: DecisionJournal
    let accounts: Accounts
    let sessionTokens: SessionTokens
    /// Identifiers of keys whose registration is in progress.
    private var provingKeys: Set<CredentialID> = []
    /// The uids of accounts whose fingers are being changed.
    private var changing: Set<UInt32> = []

    init(
        journal: DecisionJournal, accounts: Accounts, sessionTokens: SessionTokens
    ) {
        self.journal = journal
        self.accounts = accounts
        self.sessionTokens = sessionTokens
    }
}

extension ServerKeyRevocation {
    /// Whether a registration with this key is in progress, so that its outcome is not known yet.
    func isProving(_ key: ServerKey) -> Bool { provingKeys.contains(key.identifier) }

    /// Marks the registration of a key as in progress, so that `revokeUnfitServerKeys` spares the
    /// key.
    func beginProving(_ key: ServerKey) { provingKeys.insert(key.identifier) }

    /// Marks the registration of a key as ended, whatever its outcome.
    func endProving(_ key: ServerKey) { provingKeys.remove(key.identifier) }

    /// Marks a change of an account's fingers as in progress: until it ends, what its ssh keys are
    /// sealed to for it is kept.
    ///
    /// Throws `.changedMeanwhile` if another change is in progress.
    func beginChange(of account: Account) throws(StoreFault) {
        guard changing.insert(account.uid).inserted else { throw .changedMeanwhile }
    }

    /// Marks a change as ended, whatever its outcome.
    func endChange(of account: Account) { changing.remove(account.uid) }

    /// Deletes the MAC tokens whose key is not among these or is no longer good.
    ///
    /// - Parameter keys: all remaining keys of the account.
    func forgetUselessTokens(
        _ kept: AccountState, keeping keys: [ServerKey]
    ) throws(StoreFault) {
        let good = keys.filter { $0.state == .good }.map(\.identifier)
        for token in try kept.macTokens.list() where !good.contains(token.credential) {
            try kept.macTokens.remove(token)
        }
    }

    /// Revokes the keys that do not fit the fingers, and returns those that are left.
    ///
    /// Keys whose registration is in progress are neither revoked nor returned. A registration that
    /// a crash left unfinished is marked for removal at the server, since the server may know the
    /// key. Ssh keys are revoked too, and are not among those returned.
    @discardableResult
    func revokeUnfitServerKeys(
        _ account: Account, kept: AccountState, enrolment: Enrolment
    ) throws(StoreFault) -> [ServerKey] {
        try settleSSHKeys(account, kept: kept, fingers: enrolment.state)
        var keys: [ServerKey] = []
        for key in try kept.servers.all() {
            if key.state == .proving, isProving(key) { continue }
            // Left by a crash. The server may know the key, so it has to be told that the key was
            // given up.
            let key = key.state == .proving ? try kept.servers.beginRemoval(key) : key
            let fits = key.state == .invalidated || key.sealed(for: enrolment.state) != nil
            if let left = fits ? key : try invalidate(key, account: account, kept: kept) {
                keys.append(left)
            }
        }
        return keys
    }

    /// Destroys the ssh keys that do not fit the fingers, and drops what an authorised change that
    /// was interrupted has left of the others.
    ///
    /// While a change is in progress, nothing of it is dropped: any request may come meanwhile.
    ///
    /// - Returns: the number of keys that are left.
    @discardableResult
    func settleSSHKeys(
        _ account: Account, kept: AccountState, fingers: EnrolmentState
    ) throws(StoreFault) -> Int {
        var left = 0
        for key in try kept.sshKeys.list() where key.state == .good {
            if key.sealed(for: fingers) == nil {
                try invalidate(key, account: account, kept: kept)
            } else {
                if !changing.contains(account.uid) {
                    try kept.sshKeys.settle(key, for: fingers)
                }
                left += 1
            }
        }
        return left
    }

    /// Invalidates all keys of an account for servers, its signing key and its ssh keys.
    ///
    /// Called when the fingers that they were made for are gone, or can no longer be told from
    /// others. Even keys whose registration is in progress are invalidated.
    func invalidateServerKeys(
        _ account: Account, kept: AccountState
    ) throws(StoreFault) {
        for key in try kept.servers.all() where key.state != .invalidated {
            _ = try invalidate(key, account: account, kept: kept)
        }
        for key in try kept.sshKeys.list() where key.state == .good {
            try invalidate(key, account: account, kept: kept)
        }
    }

    /// Destroys an ssh key that no longer opens, and logs that; its record stays, so that lists can
    /// show the key as invalidated.
    func invalidate(
        _ key: StoredSSHKey, account: Account, kept: AccountState
    ) throws(StoreFault) {
        journal.credential(
            of: account, change: "destroyed", because: "the fingers changed; \(key.journalText)")
        _ = try kept.sshKeys.invalidate(key)
    }

    /// Invalidates a key that no longer opens, logs that, and deletes the session token of its
    /// server.
    ///
    /// The record stays, so that lists can show the key as invalidated. A key that was being
    /// removed at its server is deleted instead, since it can no longer sign its removal.
    ///
    /// - Returns: the key's record; nil if it was deleted.
    @discardableResult
    func invalidate(
        _ key: ServerKey, account: Account, kept: AccountState
    ) throws(StoreFault) -> ServerKey? {
        journal.credential(
            of: account, change: "destroyed", because: "the fingers changed; \(key.serverText)")
        if !key.isSigning { sessionTokens.forgetToken(of: account, from: key.server) }
        guard key.state != .removing else {
            try kept.servers.remove(key)
            return nil
        }
        return try kept.servers.invalidate(key)
    }

    /// Returns the denial for a key that its server has blocked.
    ///
    /// The key stays, because the server may unblock it. Its cached verdict and its session token
    /// are deleted, so that neither can be used instead of asking.
    func blocked(
        _ key: ServerKey?, url: CanonicalServerURL, account: Account
    ) -> Denial {
        do throws(StoreFault) {
            if let key { try accounts.kept(account)?.servers.forgetVerdict(for: key) }
            sessionTokens.forgetToken(of: account, from: ServerURL(url))
            return Denial(.serverKeyBlocked, subject: url.bytes)
        } catch { return accounts.denial(for: error, account: account) }
    }

    /// Deletes a key that its server no longer accepts, with its session token, and returns the
    /// denial.
    ///
    /// - Parameter reason: why the server refuses it; it is the reason of the denial and goes to
    ///   the journal.
    func destroyed(
        _ reason: DenialReason, key: ServerKey, account: Account
    ) -> Denial {
        do throws(StoreFault) {
            sessionTokens.forgetToken(of: account, from: key.server)
            if let kept = try accounts.kept(account) {
                try kept.servers.remove(key)
                journal.credential(
                    of: account, change: "destroyed", because: "\(reason); \(key.serverText)")
            }
            return Denial(reason, subject: key.server.bytes)
        } catch {
            return accounts.denial(for: error, account: account)
        }
    }
}

extension StoredSSHKey {
    /// The key's description for the journal.
    var journalText: String { "the ssh key \(String(decoding: name.bytes, as: UTF8.self))" }
}
