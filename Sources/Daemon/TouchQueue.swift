import Loop
import Wire

/// One touch at a time: who asks later waits, and is told for whom.
///
/// No account can keep the others out: it has a quarter of the waiting places at the most, and
/// never two turns in a row while another waits.
@ServiceActor
final class TouchQueue {
    private struct Place {
        let id: UInt64
        let account: UInt32
        let asker: Asker
        let inFront: (Bytes) -> Void
        let turn: CheckedContinuation<Turn, Never>
    }

    /// What came of asking for a turn.
    enum Turn: Equatable {
        /// It is the caller's, until `leave()`; `waited` tells whether others came before.
        case granted(waited: Bool)
        /// As many wait as may, of all or of this account; `inFront` names whose turn it is.
        case full(inFront: Bytes)
        /// The caller's task was cancelled while it waited.
        case cancelled
    }

    private let limit: Int
    private let perAccount: Int
    /// Hears that somebody has a turn now, or nobody any more.
    var taken: (Bool) -> Void = { _ in }
    private var current: (account: UInt32, asker: Asker)? {
        didSet {
            if (oldValue == nil) != (current == nil) { taken(current != nil) }
        }
    }
    private var places: [Place] = []
    private var nextID: UInt64 = 0

    /// A queue in which this many may wait.
    init(limit: Int) {
        self.limit = limit
        perAccount = max(1, limit / 4)
    }

    /// Waits for a turn for an account's finger; `inFront` is told whose turn it is, each time that
    /// changes.
    func turn(
        for asker: Asker, of account: UInt32, inFront: @escaping (Bytes) -> Void
    ) async -> Turn {
        if current == nil {
            current = (account, asker)
            return .granted(waited: false)
        }
        let id = nextID
        nextID += 1
        return await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                join(Place(id: id, account: account, asker: asker, inFront: inFront, turn: turn))
            }
        } onCancel: {
            onService { self.giveUp(id) }
        }
    }

    /// Decides on the place itself, since an await lets others have their turn before it.
    private func join(_ place: Place) {
        if Task.isCancelled { return place.turn.resume(returning: .cancelled) }
        guard let current else {
            self.current = (place.account, place.asker)
            return place.turn.resume(returning: .granted(waited: true))
        }
        let own = places.count { $0.account == place.account }
        guard places.count < limit, own < perAccount else {
            let name = current.asker.name(for: place.asker)
            return place.turn.resume(returning: .full(inFront: name))
        }
        places.append(place)
        place.inFront(current.asker.name(for: place.asker))
    }

    /// Ends the caller's turn; the first in line has it then, one of another account if there is.
    func leave() {
        let last = current?.account
        guard let index = places.firstIndex(where: { $0.account != last }) ?? places.indices.first
        else {
            current = nil
            return
        }
        let next = places.remove(at: index)
        current = (next.account, next.asker)
        for place in places { place.inFront(next.asker.name(for: place.asker)) }
        next.turn.resume(returning: .granted(waited: true))
    }

    private func giveUp(_ id: UInt64) {
        guard let index = places.firstIndex(where: { $0.id == id }) else { return }
        places.remove(at: index).turn.resume(returning: .cancelled)
    }
}
