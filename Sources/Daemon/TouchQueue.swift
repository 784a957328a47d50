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
        let who: Bytes
        let inFront: (Bytes) -> Void
        let turn: CheckedContinuation<Bool, Never>
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
    private var current: (account: UInt32, who: Bytes)?
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
        for who: Bytes, of account: UInt32, inFront: @escaping (Bytes) -> Void
    ) async -> Turn {
        guard let current else {
            self.current = (account, who)
            return .granted(waited: false)
        }
        let own = places.count { $0.account == account }
        guard places.count < limit, own < perAccount else { return .full(inFront: current.who) }
        inFront(current.who)
        let id = nextID
        nextID += 1
        let granted = await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                if Task.isCancelled { return turn.resume(returning: false) }
                // An await lets others have their turn: the one in front may have left by now.
                guard self.current != nil else {
                    self.current = (account, who)
                    return turn.resume(returning: true)
                }
                places.append(
                    Place(id: id, account: account, who: who, inFront: inFront, turn: turn))
            }
        } onCancel: {
            onService { self.giveUp(id) }
        }
        return granted ? .granted(waited: true) : .cancelled
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
        current = (next.account, next.who)
        for place in places { place.inFront(next.who) }
        next.turn.resume(returning: true)
    }

    private func giveUp(_ id: UInt64) {
        guard let index = places.firstIndex(where: { $0.id == id }) else { return }
        places.remove(at: index).turn.resume(returning: false)
    }
}
