// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
import DesktopInterface
import Domain
import LoginProtocol
import MainContext

/// The deletions that clients of a device have asked for.
///
/// A deletion ends with its client: polkit may take minutes to answer, and the client may be gone by
/// then. Those of a claimer are done one after the other (`beginTurn`).
@ServiceActor
final class FingerDeletions {
    /// A request for a deletion, until the daemon has ended it.
    private struct Running {
        let client: String
        let call: DaemonCall
        /// Tells when the client leaves.
        let following: BusSubscription?
    }

    private let host: DesktopHost
    private var running: [Running] = []
    /// The calls that wait for the turn; nil while nobody has it.
    private var waiting: [CheckedContinuation<Void, Never>]?

    init(host: DesktopHost) { self.host = host }

    /// Waits until nobody has the turn.
    func awaitTurn() async {
        while waiting != nil { await withCheckedContinuation { waiting?.append($0) } }
    }

    /// Takes the turn, which nobody may have; the caller must end it.
    func beginTurn() { waiting = [] }

    /// Ends the turn, and wakes those that wait for it.
    func endTurn() {
        let calls = waiting ?? []
        waiting = nil
        for call in calls { call.resume() }
    }

    /// Has signetd delete a finger, all if it is nil; returns whether a reader still stores a print
    /// of them.
    ///
    /// Throws what the caller is told if nothing was deleted.
    func delete(
        _ finger: Finger?, of account: AccountName, for caller: DesktopCaller
    ) async throws(DesktopFault) -> Bool {
        let answer = try await answer(
            to: DesktopDeleteRequest(client: caller.name, account: account, finger: finger),
            of: caller.name.text)
        host.recentLists.forget()
        if case .done(let done) = answer { return (done.printsLeft ?? 0) > 0 }
        guard case .denial(let denial) = answer else { throw .noDaemon }
        let fault = DesktopFault(of: denial)
        throw fault.kind == .internal
            ? DesktopFault(.printsNotDeleted, fault.message) : fault
    }

    /// Cancels the deletions of a client.
    func cancel(of client: String) {
        for deletion in running where deletion.client == client { deletion.call.cancel() }
    }

    private func answer(
        to request: DesktopDeleteRequest, of client: String
    ) async throws(DesktopFault) -> Answer {
        let call = try DaemonCall.begin(Request(request), on: host.daemon)
        let following = host.bus.followOwner(of: client) { owner in
            if owner == nil { call.cancel() }
        }
        running.append(Running(client: client, call: call, following: following))
        defer { running.removeAll { $0.call === call } }
        // It may have left before it was followed.
        onService { [host] in
            do throws(BusFault) {
                _ = try await host.bus.owner(of: client, limit: DesktopHost.limit)
            } catch { if error != .timedOut { call.cancel() } }
        }
        guard let answer = await call.last({ _ in }) else { throw .noDaemon }
        return answer
    }
}
