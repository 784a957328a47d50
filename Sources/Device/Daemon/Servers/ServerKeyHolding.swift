// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import Sealing
import State

/// An account's keys for servers and its signing key, with the MAC tokens and session tokens that
/// depend on them.
///
/// A key ends when the fingers that it is sealed to have changed, or when its server no longer
/// accepts it. `settle` spares a key whose registration is in progress until its server has
/// answered; `revoke` does not.
struct ServerKeyHolding: FingerBound {
    static let ending = Ending.registration

    private let journal: DecisionJournal
    private let accounts: Accounts
    private let sessionTokens: SessionTokens
    private let underWay: ChangesUnderWay

    init(_ parts: HoldingParts) {
        journal = parts.journal
        accounts = parts.accounts
        sessionTokens = parts.sessionTokens
        underWay = parts.underWay
    }
}

extension ServerKeyHolding {
    /// No key for a server outlives a change of fingers: its server was told the fingers' state.
    func prepare(_: ChangeOfFingers, of _: Holder) {}

    /// Each key stays in the vault that made it, which its server was told.
    func move(_: Holder, for _: Enrolment, to _: VaultKind) {}

    func settle(_ holder: Holder, for fingers: Enrolment) throws(StoreFault) {
        try forgetUselessTokens(holder.kept, keeping: settled(holder, for: fingers))
    }

    func revoke(_ holder: Holder) throws(StoreFault) {
        for key in try holder.kept.servers.all() where key.state != .invalidated {
            _ = try invalidate(key, of: holder)
        }
    }

    func count(_ kept: AccountState, fitting fingers: EnrolmentState?) throws(StoreFault) -> Int {
        try kept.servers.all().count {
            fingers == nil ? $0.state == .good : $0.shown(fitting: fingers)?.state == .good
        }
    }

    func effects(
        of _: ForetoldChange, on kept: AccountState, fitting fingers: EnrolmentState?
    ) throws(StoreFault) -> [ChangeEffectAnswer] {
        let good = try kept.servers.all().filter {
            fingers == nil ? $0.state == .good : $0.shown(fitting: fingers)?.state == .good
        }
        let tokens = try good.isEmpty ? [] : kept.macTokens.list()
        return good.flatMap { key in
            if key.isSigning { return [ChangeEffectAnswer("signingKey")] }
            let server = key.server.bytes
            return [ChangeEffectAnswer("server", subject: server)]
                + tokens.filter {
                    $0.credential == key.identifier && $0.name != MACTokenName.operations
                }.map {
                    ChangeEffectAnswer("server", subject: server, name: $0.name)
                }
        }
    }

    func show(
        _ holder: Holder, for fingers: Enrolment, credential: CredentialFileState,
        in report: inout AccountReport
    ) {
        let keys: [ServerKey]
        do throws(StoreFault) {
            keys = try shown(holder.kept, for: fingers, credential: credential)
        } catch {
            // It is logged, and the rest of the status is known without them.
            _ = accounts.denial(for: error, account: holder.account)
            report.status.serversUnknown = true
            return
        }
        report.parts += keys.filter { !$0.isSigning }.map { .server(ServerAnswer($0)) }
        if let key = keys.filter(\.isSigning).best {
            report.parts.append(.signingKey(SigningKeyAnswer(key)))
        }
    }

    /// The keys as lists show them: one that does not fit the fingers as invalidated, and so all if
    /// the credential is unfit. Keys whose registration is in progress are left out.
    func shown(
        _ kept: AccountState, for fingers: Enrolment, credential: CredentialFileState
    ) throws(StoreFault) -> [ServerKey] {
        let isRevoked = if case .unfit = credential { true } else { false }
        return try kept.servers.all().compactMap { key in
            if key.state == .proving, underWay.includes(key) { return nil }
            return key.shown(fitting: isRevoked ? nil : fingers.state)
        }
    }

    /// The effects are told before the change; see `effects`.
    func report(_: (before: Int, after: Int), in _: inout DoneAnswer) {}

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
    /// key.
    func settled(_ holder: Holder, for fingers: Enrolment) throws(StoreFault) -> [ServerKey] {
        let servers = holder.kept.servers
        var keys: [ServerKey] = []
        for key in try servers.all() {
            if key.state == .proving, underWay.includes(key) { continue }
            // Left by a crash. The server may know the key, so it has to be told that the key was
            // given up.
            let key = key.state == .proving ? try servers.beginRemoval(key) : key
            let fits = key.state == .invalidated || key.sealed(for: fingers.state) != nil
            if let left = fits ? key : try invalidate(key, of: holder) { keys.append(left) }
        }
        return keys
    }

    /// Invalidates a key that no longer opens, logs that, and deletes the session token of its
    /// server.
    ///
    /// The record stays, so that lists can show the key as invalidated. A key that was being
    /// removed at its server is deleted instead, since it can no longer sign its removal.
    ///
    /// - Returns: the key's record; nil if it was deleted.
    @discardableResult
    func invalidate(_ key: ServerKey, of holder: Holder) throws(StoreFault) -> ServerKey? {
        journal.credential(
            of: holder.account, change: "destroyed",
            because: "the fingers changed; \(key.serverText)")
        if !key.isSigning { sessionTokens.forgetToken(of: holder.account, from: key.server) }
        guard key.state != .removing else {
            try holder.kept.servers.remove(key)
            return nil
        }
        return try holder.kept.servers.invalidate(key)
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
