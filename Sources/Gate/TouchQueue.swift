// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Loop
import Posix

/// One request at a time has the readers; the others wait, and are told for whom.
///
/// Shares belong to whoever asks, not to the account that is asked for: a requester has a quarter of
/// the waiting places at most, and never two turns in a row while another waits.
@ServiceActor
package final class TouchQueue {
    /// How long an enrolment may keep a touch waiting without a finger on the reader.
    package static let patience = Duration.seconds(15)
    /// How long a request that has just arrived may take to show that it waits.
    package static let showing = Duration.seconds(2)

    private struct Place {
        let id: UInt64
        let applicant: Applicant
        let turn: CheckedContinuation<Outcome, Never>
        /// Whether it shows whose turn it is, where both prompts have to.
        var isShown = Acknowledgement()
    }

    /// Whether a client has shown something, once that is known.
    @ServiceActor private final class Acknowledgement {
        private var answer: Bool?
        private var waiting: CheckedContinuation<Bool, Never>?

        func settle(_ isShown: Bool) {
            answer = isShown
            waiting?.resume(returning: isShown)
            waiting = nil
        }

        func value() async -> Bool {
            await withCheckedContinuation { continuation in
                if let answer {
                    continuation.resume(returning: answer)
                } else {
                    waiting = continuation
                }
            }
        }
    }

    private enum Outcome {
        case granted
        case full(inFront: Bytes)
        case cancelled
    }

    /// Who has the turn.
    private final class Holder {
        let id: UInt64
        let applicant: Applicant
        /// Requests for the same account that both prompts have yet to show.
        var newcomers: [UInt64] = []
        /// Requesters of which a request did not show that it waits: those of theirs that come after
        /// it keep nobody from scanning until they do.
        var unshown: Set<UInt32> = []
        /// Ends the scan under way.
        var scan: Interruption?
        /// Ends the wait until the holder's prompt shows something.
        var prompt: Interruption?
        /// Ends an enrolment that gives way.
        var enrolment: Interruption?
        var hasYielded = false
        var touched = ContinuousClock.now

        init(_ id: UInt64, _ applicant: Applicant) {
            self.id = id
            self.applicant = applicant
        }
    }

    private let limit: Int
    private let perRequester: Int
    private let patience: Duration
    private let showing: Duration
    /// Hears that somebody has a turn now, or nobody any more.
    private let taken: (Bool) -> Void
    private var holder: Holder? {
        didSet {
            if (oldValue == nil) != (holder == nil) { taken(holder != nil) }
        }
    }
    private var places: [Place] = []
    private var nextID: UInt64 = 0
    private var impatience: Timer?

    /// A queue in which this many may wait; `taken` hears whether the readers are in use.
    package init(
        limit: Int, patience: Duration = TouchQueue.patience,
        showing: Duration = TouchQueue.showing,
        taken: @escaping (Bool) -> Void = { _ in }
    ) {
        self.limit = limit
        self.patience = patience
        self.showing = showing
        self.taken = taken
        perRequester = max(1, limit / 4)
    }

    /// How many wait.
    var waiting: Int { places.count }

    /// Waits for the turn; the applicant hears whose turn it is, each time that changes. Throws
    /// `queueFull`, `timedOut` or `cancelled`.
    package func turn(
        for applicant: Applicant, within limit: Duration
    ) async throws(Denial) -> Turn {
        let id = nextID
        nextID += 1
        if holder == nil {
            holder = Holder(id, applicant)
            return turn(id)
        }
        let (outcome, expired) = await limited(to: limit) { [self] in
            await place(applicant, id)
        }
        switch outcome {
        case .granted: return turn(id)
        case .full(let inFront): throw Denial(.queueFull, subject: inFront)
        case .cancelled: throw Denial(expired ? .timedOut : .cancelled)
        }
    }

    private func turn(_ id: UInt64) -> Turn {
        Turn(id) { [weak self] in self?.leave($0) }
    }

    private func place(_ applicant: Applicant, _ id: UInt64) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                join(Place(id: id, applicant: applicant, turn: turn))
            }
        } onCancel: {
            onService { self.giveUp(id) }
        }
    }

    /// Decides on the place itself, since an await lets others have their turn before it.
    private func join(_ place: Place) {
        if Task.isCancelled { return place.turn.resume(returning: .cancelled) }
        guard let holder else {
            self.holder = Holder(place.id, place.applicant)
            return place.turn.resume(returning: .granted)
        }
        let requester = place.applicant.asker.requester.uid
        let own = places.count { $0.applicant.asker.requester.uid == requester }
        guard places.count < limit, own < perRequester else {
            let name = holder.applicant.asker.name(for: place.applicant.asker)
            return place.turn.resume(returning: .full(inFront: name))
        }
        places.append(place)
        tellWaiting(place, holder)
        if contends(place.applicant, with: holder.applicant), !holder.unshown.contains(requester) {
            contend(place.id, holder)
        }
        watchEnrolment()
    }

    /// Has nobody scan before both prompts show that there are two.
    private func contend(_ id: UInt64, _ holder: Holder) {
        guard !holder.newcomers.contains(id) else { return }
        holder.newcomers.append(id)
        holder.scan?.raise()
    }

    /// Whether one touch could be taken for the other's.
    private func contends(_ newcomer: Applicant, with holder: Applicant) -> Bool {
        newcomer.purpose == .touch && holder.purpose == .touch
            && newcomer.account == holder.account
    }

    /// Tells who waits whose turn it is. A request for the same account has to say that it shows it:
    /// one that does not in time loses its place.
    private func tellWaiting(_ place: Place, _ holder: Holder) {
        let mustShow = contends(place.applicant, with: holder.applicant)
        let name = holder.applicant.asker.name(for: place.applicant.asker)
        let notice = Notice(.waiting, subject: name, wantsAcknowledgement: mustShow)
        let (show, limit) = (place.applicant.show, showing)
        let isShown = Acknowledgement()
        if let index = places.firstIndex(where: { $0.id == place.id }) {
            places[index].isShown = isShown
        }
        onService { [self, weak holder] in
            guard mustShow else {
                _ = await show(notice)
                return
            }
            let answer = await limited(to: limit) { await show(notice) }.value
            settle(answer, of: place, with: holder)
            isShown.settle(answer)
        }
    }

    /// A request for the holder's account has said, or has not said in time, that it shows that it
    /// waits.
    private func settle(_ isShown: Bool, of place: Place, with holder: Holder?) {
        guard let holder, holder === self.holder else { return }
        let requester = place.applicant.asker.requester.uid
        if !isShown {
            holder.unshown.insert(requester)
            giveUp(place.id)
        } else if holder.unshown.contains(requester),
            places.contains(where: { $0.id == place.id })
        {
            contend(place.id, holder)
        }
    }

    /// The turn of the value with this id is over; the first in line has it then, one of another
    /// requester if there is. Touches come before enrolments and upkeep.
    private func leave(_ id: UInt64) {
        guard let last = holder, last.id == id else { return }
        let requester = last.applicant.asker.requester.uid
        let others = places.indices.filter {
            places[$0].applicant.asker.requester.uid != requester
        }
        let line = others.isEmpty ? Array(places.indices) : others
        let next = line.first { places[$0].applicant.purpose == .touch } ?? line.first
        guard let next else {
            holder = nil
            impatience = nil
            return
        }
        let place = places.remove(at: next)
        let new = Holder(place.id, place.applicant)
        holder = new
        for waiting in places {
            tellWaiting(waiting, new)
            if contends(waiting.applicant, with: place.applicant) {
                new.newcomers.append(waiting.id)
            }
        }
        place.turn.resume(returning: .granted)
        watchEnrolment()
    }

    private func giveUp(_ id: UInt64) {
        guard let index = places.firstIndex(where: { $0.id == id }) else { return }
        places.remove(at: index).turn.resume(returning: .cancelled)
    }
}

// MARK: - Two requests for one account

extension TouchQueue {
    /// Whether another request for the same account has arrived that not both prompts show yet.
    func isContended(_ turn: borrowing Turn) -> Bool {
        guard let holder, holder.id == turn.id else { return false }
        return !holder.newcomers.isEmpty
    }

    /// A scan begins, which ends when another request for the same account arrives.
    func beginScan(_ turn: borrowing Turn, interruptedBy interruption: Interruption) {
        guard let holder, holder.id == turn.id else { return }
        holder.scan = interruption
        if !holder.newcomers.isEmpty { interruption.raise() }
    }

    /// The scan is over.
    func endScan(_ turn: borrowing Turn) {
        guard let holder, holder.id == turn.id else { return }
        holder.scan = nil
    }

    /// Returns when both prompts show that there are two requests for the account: the holder's that
    /// another one waits, and the other's whose turn it is.
    ///
    /// Throws `timedOut` where the holder's prompt does not show it before the end of its wait, and
    /// `cancelled` where its client is gone.
    func settleContention(
        of turn: borrowing Turn, until end: Duration, _ clock: Clock
    ) async throws(Denial) {
        guard let holder, holder.id == turn.id else { return }
        while let id = holder.newcomers.first {
            if let place = places.first(where: { $0.id == id }), await place.isShown.value() {
                try await tell(holder, of: place, until: end, clock)
            }
            holder.newcomers.removeAll { $0 == id }
        }
    }

    private func tell(
        _ holder: Holder, of place: Place, until end: Duration, _ clock: Clock
    ) async throws(Denial) {
        let notice = Notice(
            .contended, subject: place.applicant.asker.detail, wantsAcknowledgement: true)
        let (show, interruption) = (holder.applicant.show, Interruption())
        holder.prompt = interruption
        defer { holder.prompt = nil }
        let (isShown, expired) = await limited(to: max(.zero, end - clock.sinceBoot())) {
            await interruptible(by: interruption) { await show(notice) }
        }
        guard isShown else { throw Denial(expired ? .timedOut : .cancelled) }
    }

    /// Nobody scans, or waits for a prompt, while the machine sleeps.
    package func interrupt() {
        holder?.scan?.raise()
        holder?.prompt?.raise()
    }
}

// MARK: - Enrolments give way

extension TouchQueue {
    /// An enrolment has begun, which `interruption` ends: raised where a touch has waited while
    /// nobody put a finger on the reader for `patience`.
    package func mayInterrupt(_ turn: borrowing Turn, by interruption: Interruption) {
        guard let holder, holder.id == turn.id else { return }
        holder.enrolment = interruption
        holder.touched = .now
        watchEnrolment()
    }

    /// A finger was on the reader.
    package func noteTouch(_ turn: borrowing Turn) { noteTouch(turn.id) }

    /// The same, for where the turn itself cannot be taken along.
    package func touchNote(_ turn: borrowing Turn) -> @ServiceActor () -> Void {
        let id = turn.id
        return { [weak self] in self?.noteTouch(id) }
    }

    private func noteTouch(_ id: UInt64) {
        guard let holder, holder.id == id else { return }
        holder.touched = .now
        watchEnrolment()
    }

    /// Whether the enrolment with this turn was interrupted for a touch.
    package func hasYielded(_ turn: borrowing Turn) -> Bool {
        guard let holder, holder.id == turn.id else { return false }
        return holder.hasYielded
    }

    private func watchEnrolment() {
        impatience = nil
        guard let holder, let enrolment = holder.enrolment, !holder.hasYielded,
            places.contains(where: { $0.applicant.purpose == .touch })
        else { return }
        let left = patience - (ContinuousClock.now - holder.touched)
        guard left > .zero else {
            holder.hasYielded = true
            return enrolment.raise()
        }
        impatience = Timer(after: left) { [weak self] in self?.watchEnrolment() }
    }
}
