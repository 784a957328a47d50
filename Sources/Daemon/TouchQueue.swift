import Loop
import Wire

/// One touch at a time: who asks later waits, and is told for whom.
@ServiceActor
final class TouchQueue {
    private struct Place {
        let id: UInt64
        let who: Bytes
        let inFront: (Bytes) -> Void
        let turn: CheckedContinuation<Bool, Never>
    }

    /// What came of asking for a turn.
    enum Turn: Equatable {
        /// It is the caller's, until `leave()`; `waited` tells whether others came before.
        case granted(waited: Bool)
        /// As many wait as may; `inFront` names whose turn it is.
        case full(inFront: Bytes)
        /// The caller's task was cancelled while it waited.
        case cancelled
    }

    private let limit: Int
    private var current: Bytes?
    private var places: [Place] = []
    private var nextID: UInt64 = 0

    /// A queue in which this many may wait.
    init(limit: Int) {
        self.limit = limit
    }

    /// Waits for a turn; `inFront` is told whose turn it is, each time that changes.
    func turn(for who: Bytes, inFront: @escaping (Bytes) -> Void) async -> Turn {
        guard let current else {
            self.current = who
            return .granted(waited: false)
        }
        guard places.count < limit else { return .full(inFront: current) }
        inFront(current)
        let id = nextID
        nextID += 1
        let granted = await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                if Task.isCancelled { return turn.resume(returning: false) }
                places.append(Place(id: id, who: who, inFront: inFront, turn: turn))
            }
        } onCancel: {
            Task { @ServiceActor in self.giveUp(id) }
        }
        return granted ? .granted(waited: true) : .cancelled
    }

    /// Ends the caller's turn; the next in line has it then.
    func leave() {
        guard !places.isEmpty else {
            current = nil
            return
        }
        let next = places.removeFirst()
        current = next.who
        for place in places { place.inFront(next.who) }
        next.turn.resume(returning: true)
    }

    private func giveUp(_ id: UInt64) {
        guard let index = places.firstIndex(where: { $0.id == id }) else { return }
        places.remove(at: index).turn.resume(returning: false)
    }
}
