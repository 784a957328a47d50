// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Loop
import Policy
import Posix
import Store

/// Ends keys for servers, and the signing key: those that do not fit the fingers any more, and those that
/// a server does not take any more. What hangs on a key ends with it.
@ServiceActor
final class ServerKeyRevocation {
    let journal: DecisionJournal
    let accounts: Accounts
    let sessionTokens: SessionTokens
    /// Keys that servers are being shown just now.
    private var provingKeys: Set<Bytes> = []

    init(
        journal: DecisionJournal, accounts: Accounts, sessionTokens: SessionTokens
    ) {
        self.journal = journal
        self.accounts = accounts
        self.sessionTokens = sessionTokens
    }
}

extension ServerKeyRevocation {
    /// Whether a server is being shown a key just now: then it is not known yet what becomes of it.
    func isProving(_ key: ServerKey) -> Bool { provingKeys.contains(key.identifier) }

    /// Notes that a server is being shown a key, which is not revoked meanwhile.
    func beginProving(_ key: ServerKey) { provingKeys.insert(key.identifier) }

    /// Notes that what the server says of a key is known, or will not be.
    func endProving(_ key: ServerKey) { provingKeys.remove(key.identifier) }

    /// Forgets the tokens of keys that are gone or good for nothing any more.
    func forgetUselessTokens(
        _ kept: AccountState, keeping keys: [ServerKey]
    ) throws(StoreFault) {
        let good = keys.filter { $0.state == .good }.map(\.identifier)
        for token in try kept.macTokens.list() where !good.contains(token.credential) {
            try kept.macTokens.remove(token)
        }
    }

    /// Revokes the keys for others that do not fit the fingers, gives up those that a crash left
    /// half-registered, and gives what is left.
    @discardableResult
    func revokeUnfitServerKeys(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment
    ) throws(StoreFault) -> [ServerKey] {
        var keys: [ServerKey] = []
        for key in try kept.servers.all() {
            if key.state == .proving, isProving(key) { continue }
            // What a crash left: whether its server has it is not known, and so it is told.
            let key = key.state == .proving ? try kept.servers.beginRemoval(key) : key
            let fits = key.state == .invalidated || key.sealed(for: enrolment.state) != nil
            if let left = fits ? key : try invalidate(key, account, kept) { keys.append(left) }
        }
        return keys
    }

    /// Destroys all of an account's keys for others: the fingers that they were made for are gone,
    /// or cannot be told from others any more.
    func invalidateServerKeys(
        _ account: Account, _ kept: AccountState
    ) throws(StoreFault) {
        for key in try kept.servers.all() where key.state != .invalidated {
            _ = try invalidate(key, account, kept)
        }
    }

    /// What is left of a key that opens no more; nil of one that was given up already, since it could
    /// not prove to its server that it is.
    @discardableResult
    func invalidate(
        _ key: ServerKey, _ account: Account, _ kept: AccountState
    ) throws(StoreFault) -> ServerKey? {
        journal.credential(
            of: account, "destroyed", because: "the fingers changed; \(key.serverText)")
        if !key.isSigning { sessionTokens.forgetToken(of: account, from: key.server) }
        guard key.state != .removing else {
            try kept.servers.remove(key)
            return nil
        }
        return try kept.servers.invalidate(key)
    }

    /// A blocked key stays, but what its server said before is good for nothing any more.
    func blocked(
        _ key: ServerKey?, _ url: ServerURL, _ account: Account
    ) -> Denial {
        do throws(StoreFault) {
            if let key { try accounts.kept(account)?.servers.forgetVerdict(for: key) }
            sessionTokens.forgetToken(of: account, from: url.bytes)
            return Denial(.serverKeyBlocked, subject: url.bytes)
        } catch { return accounts.denial(for: error, account) }
    }

    func destroyed(
        _ reason: DenialReason, _ key: ServerKey, _ account: Account
    ) -> Denial {
        do throws(StoreFault) {
            sessionTokens.forgetToken(of: account, from: key.server)
            if let kept = try accounts.kept(account) {
                try kept.servers.remove(key)
                journal.credential(
                    of: account, "destroyed", because: "\(reason); \(key.serverText)")
            }
            return Denial(reason, subject: key.server)
        } catch {
            return accounts.denial(for: error, account)
        }
    }
}
