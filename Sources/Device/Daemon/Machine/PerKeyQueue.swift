// SPDX-License-Identifier: Apache-2.0
import MainContext
import Posix

/// Serialises work for each key: one holder at a time, while others wait in order of arrival.
///
/// For a server's credential, a turn lasts from advancing its counter until the server has
/// answered. A server that saw a higher counter first would take the lower one for that of a copied
/// key, and block the key.
@ServiceActor
final class PerKeyQueue<Key: Hashable & Sendable> {
    private struct Place {
        let id: UInt64
        let turn: CheckedContinuation<Bool, Never>
    }

    /// The waiting places, for each key whose turn is taken.
    private var places: [Key: [Place]] = [:]
    private var nextID: UInt64 = 0

    /// Waits for the turn of a key; returns false if it did not come within `limit` or the task was
    /// cancelled.
    ///
    /// The caller must end a turn that it has taken with `leave`.
    func take(_ key: Key, within limit: Duration) async -> Bool {
        if places[key] == nil {
            places[key] = []
            return true
        }
        guard limit > .zero else { return false }
        return await limited(to: limit) { [self] in await wait(for: key) }.value
    }

    /// Takes the turn of a key if it is free; returns false otherwise.
    func takeFree(_ key: Key) -> Bool {
        guard places[key] == nil else { return false }
        places[key] = []
        return true
    }

    /// Ends the turn of a key, and passes it to the first waiting place.
    func leave(_ key: Key) {
        guard var left = places[key], !left.isEmpty else {
            places[key] = nil
            return
        }
        let next = left.removeFirst()
        places[key] = left
        next.turn.resume(returning: true)
    }

    private func wait(for key: Key) async -> Bool {
        let id = nextID
        nextID += 1
        return await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                join(Place(id: id, turn: turn), key: key)
            }
        } onCancel: {
            onService { self.giveUp(id, key: key) }
        }
    }

    /// Adds a place, or takes the turn if it is free now; others may have run since the caller
    /// checked.
    private func join(_ place: Place, key: Key) {
        if Task.isCancelled { return place.turn.resume(returning: false) }
        guard places[key] != nil else {
            places[key] = []
            return place.turn.resume(returning: true)
        }
        places[key]?.append(place)
    }

    private func giveUp(_ id: UInt64, key: Key) {
        guard let index = places[key]?.firstIndex(where: { $0.id == id }),
            let place = places[key]?.remove(at: index)
        else { return }
        place.turn.resume(returning: false)
    }
}
