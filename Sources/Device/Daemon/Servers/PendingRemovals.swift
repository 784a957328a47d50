// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import MainContext
import Posix
import State

/// Tells servers about registrations and MAC tokens that were given up while the servers could not
/// be reached.
///
/// It provides the work for `RemovalRounds`, which decides when the work runs.
@ServiceActor
final class PendingRemovals {
    let removals: RemovalRounds
    let state: StateDirectory
    let macTokens: DeviceMACTokens
    let servers: Servers

    init(
        removals: RemovalRounds, state: StateDirectory, macTokens: DeviceMACTokens, servers: Servers
    ) {
        self.removals = removals
        self.state = state
        self.macTokens = macTokens
        self.servers = servers
        removals.round = { [weak self] in await self?.finishAllRemovals() ?? true }
    }
}

extension PendingRemovals {
    /// Tries all pending removals once, and returns whether all servers know now.
    ///
    /// Records of an account that no longer exists, or whose uid has another name now, are skipped.
    private func finishAllRemovals() async -> Bool {
        var isDone = true
        // In random order, so that one account's unresponsive servers do not always delay the
        // others.
        for kept in ((try? state.accounts()) ?? []).shuffled() {
            guard kept.hasRemovals else { continue }
            // Nothing can be proved on behalf of an account that no longer exists.
            guard let account = (try? Account.with(uid: kept.uid)) ?? nil,
                AccountName(account.name) == kept.name
            else { continue }
            if await !servers.finishRemovals(of: account) { isDone = false }
            if await !macTokens.finishTokenRemovals(of: account) { isDone = false }
        }
        return isDone
    }
}

extension AccountState {
    /// Whether a server may have yet to be told about something.
    fileprivate var hasRemovals: Bool {
        ((try? servers.list()) ?? []).contains { $0.state == .removing || $0.state == .proving }
            || ((try? macTokens.list()) ?? []).contains { $0.state == .removing }
    }
}
