// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Loop
import Posix

/// One at a time for each credential: from the counter that it takes to its server's answer.
///
/// A server that hears of a higher counter first takes the lower one for a copy's, and blocks.
@ServiceActor
final class PerKeyQueue {
    private struct Place {
        let id: UInt64
        let turn: CheckedContinuation<Bool, Never>
    }

    /// Who waits for each credential whose turn somebody has.
    private var paths: [Bytes: [Place]] = [:]
    private var nextID: UInt64 = 0

    /// Waits for the turn of a credential, which `leave` ends; false where it did not come in time,
    /// or the caller's task was cancelled.
    func take(_ credential: Bytes, within limit: Duration) async -> Bool {
        if paths[credential] == nil {
            paths[credential] = []
            return true
        }
        guard limit > .zero else { return false }
        return await limited(to: limit) { [self] in await wait(for: credential) }.value
    }

    /// The turn, where nobody has it; false where somebody does.
    func takeFree(_ credential: Bytes) -> Bool {
        guard paths[credential] == nil else { return false }
        paths[credential] = []
        return true
    }

    /// Ends a turn: the first who waits has it then.
    func leave(_ credential: Bytes) {
        guard var waiting = paths[credential], !waiting.isEmpty else {
            paths[credential] = nil
            return
        }
        let next = waiting.removeFirst()
        paths[credential] = waiting
        next.turn.resume(returning: true)
    }

    private func wait(for credential: Bytes) async -> Bool {
        let id = nextID
        nextID += 1
        return await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                join(Place(id: id, turn: turn), credential)
            }
        } onCancel: {
            onService { self.giveUp(id, credential) }
        }
    }

    /// Decides on the place itself, since an await lets others have their turn before it.
    private func join(_ place: Place, _ credential: Bytes) {
        if Task.isCancelled { return place.turn.resume(returning: false) }
        guard paths[credential] != nil else {
            paths[credential] = []
            return place.turn.resume(returning: true)
        }
        paths[credential]?.append(place)
    }

    private func giveUp(_ id: UInt64, _ credential: Bytes) {
        guard let index = paths[credential]?.firstIndex(where: { $0.id == id }),
            let place = paths[credential]?.remove(at: index)
        else { return }
        place.turn.resume(returning: false)
    }
}
