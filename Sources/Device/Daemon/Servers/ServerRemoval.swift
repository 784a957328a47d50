// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import SignedFormats
import State

// To give up a registration, the server is told first; then the key is deleted. If the server
// cannot be reached, it is told later. Until then, the key stays on disk, but it is usable for
// nothing else.
extension Servers {
    /// Gives up a registration, without a touch; `state` of the answer says whether the server
    /// knows.
    ///
    /// Throws `badRequest` for an invalid URL and `unknownServer` if there is no registration.
    func disableServer(
        _ request: ServerDisableRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        defer { removals.want() }
        let (key, url) = try await registration(request, account: account)
        return try await accounts.answering(account) {
            guard let kept = try accounts.kept(account) else { throw Denial(.notEnrolled) }
            // Before anything is marked: from here on, cancelling does not restore the
            // registration.
            if key.state != .invalidated { client.tell(asking: ServerURL(url)) }
            return .done(
                DoneAnswer(
                    state: try await remove(key, url: url, account: account, kept: kept).state))
        }
    }

    /// Throws `badRequest` or `unknownServer`.
    func checkDisabling(
        _ request: ServerDisableRequest, account: Account, client _: any Client
    ) async throws(Denial) {
        _ = try await registration(request, account: account)
    }

    /// The registration that a request is about.
    private func registration(
        _ request: ServerDisableRequest, account: Account
    ) async throws(Denial) -> (ServerKey, CanonicalServerURL) {
        guard let url = CanonicalServerURL(request.server) else { throw Denial(.badRequest) }
        let those = try await keys.serverKeys(of: account).filter { $0.server == ServerURL(url) }
        // A registration that was given up before is tried again, unless there is another one at
        // the same server.
        guard let key = those.first(where: { $0.state != .removing }) ?? those.first else {
            throw Denial(.unknownServer, subject: url.bytes)
        }
        return (key, url)
    }

    /// Tells servers about the account's registrations that were given up while they could not be
    /// reached.
    ///
    /// Returns whether all servers know now.
    func finishRemovals(of account: Account) async -> Bool {
        guard let kept = try? accounts.kept(account) else { return true }
        // This includes registrations of which it is unknown, after a crash, whether the server
        // knows them.
        guard let all = try? await self.keys.serverKeys(of: account) else { return false }
        let keys = all.filter { $0.state == .removing }
        // A server that does not answer takes long, so stop at the first. The next round uses
        // another order.
        for key in keys.shuffled() {
            guard let url = CanonicalServerURL(key.server) else { continue }
            do throws(StoreFault) {
                if try await remove(key, url: url, account: account, kept: kept) == .toldLater {
                    return false
                }
            } catch {
                journal.fault(error.description, account: account.name)
                return false
            }
        }
        return true
    }

    /// Tells the server and deletes the key; unless the server is to be told later, nothing of the
    /// key is left.
    private func remove(
        _ key: ServerKey, url: CanonicalServerURL, account: Account, kept: AccountState
    ) async throws(StoreFault) -> Removal {
        sessionTokens.forgetToken(of: account, from: key.server)
        // A key that does not open cannot prove anything. The server's administrator has to remove
        // the registration.
        guard key.state != .invalidated else {
            try kept.servers.remove(key)
            return .dropped
        }
        let marked = key.state == .removing ? key : try kept.servers.beginRemoval(key)
        let removal = Removal(await removal(of: marked, url: url, account: account, kept: kept))
        switch removal {
        case .toldLater: return removal
        case .told, .dropped:
            try kept.servers.remove(marked)
            let told = removal == .told ? "disabled" : "disabled, the server was not notified"
            journal.credential(
                of: account, change: "destroyed", because: "\(told); \(key.serverText)")
            return removal
        }
    }

    /// Asks the server to remove the registration; the signed statement says that there was no
    /// touch.
    private func removal(
        of key: ServerKey, url: CanonicalServerURL, account: Account, kept: AccountState
    ) async -> RelayAnswer {
        let challengeRequest = RelayChallengeRequest(
            server: ServerURL(url), account: key.account, device: state.device,
            application: key.application, action: LoginAction.remove)
        let answer = await relay.ask(.challenge(challengeRequest), for: account.uid)
        guard case .challenge(let challenge, key.audience, _, _) = answer else { return answer }
        guard (try? credentials.revokingSnapshot(of: account, kept: kept)) != nil else {
            return .unreachable(why: [], isRepeatable: true)
        }
        do throws(Denial) {
            // Another request that uses the key ends soon; if it does not, the server is told
            // later.
            return try await keys.serverHears(
                of: key, account: account, kept: kept, patience: .seconds(2)
            ) {
                (snapshot) throws(Denial) in
                try await keys.signedRemoval(
                    challenge, by: key, account: account, snapshot: snapshot)
            } _: { statement, signature in
                .remove(
                    server: ServerURL(url), registration: key.registration, statement: statement,
                    signature: signature)
            }
        } catch { return .refused(code: Bytes("local".utf8), status: 0, attempts: nil) }
    }
}

/// The outcome of giving up a registration.
private enum Removal {
    /// The server has removed the registration.
    case told
    /// The server has yet to be told, and the key is kept for that.
    case toldLater
    /// The server may still have the registration, but this key cannot prove anything to it.
    case dropped

    /// The outcome for a server's answer.
    ///
    /// A server that is busy or out of order has decided nothing.
    init(_ answer: RelayAnswer) {
        switch answer {
        case .removed: self = .told
        case .refused(let code, _, _):
            switch String(decoding: code, as: UTF8.self) {
            case "key-removed", "key-replaced": self = .told
            case "key-blocked", "refused", "not-found": self = .dropped
            default: self = .toldLater
            }
        case .unreachable, .registered, .proven, .challenge, .loggedIn, .macToken, .awaited,
            .listed, .operation, .decided, .requirements, .attestation, .session,
            .sessionsListed, .sessionsEnded:
            self = .toldLater
        }
    }

    /// The state for the command protocol.
    var state: CredentialState {
        switch self {
        case .told: .none
        case .toldLater: .disabled
        case .dropped: .invalidated
        }
    }
}
