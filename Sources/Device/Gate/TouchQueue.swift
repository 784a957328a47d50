// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

/// Lets one request at a time use the readers, and tells the waiting ones whose turn it is.
///
/// Shares belong to the requester, not to the account that the touch is for: a requester gets at
/// most a quarter of the waiting places (but at least one), and never two turns in a row while
/// another requester waits. If two requests are for the same account, neither scans until both
/// prompts show that there are two, since one touch could otherwise be taken for the other's. An
/// enrolment yields to a touch after `patience` without a finger, an observation to anything at once.
@ServiceActor
package final class TouchQueue {
    /// The time without a finger on the reader after which an enrolment yields to a waiting touch.
    package static let patience = Duration.seconds(15)
    /// The time in which a new request for the holder's account must show that it waits.
    package static let showing = Duration.seconds(2)

    private struct Place {
        let id: UInt64
        let applicant: Applicant
        let turn: CheckedContinuation<Outcome, Never>
        /// Settled when the client has shown whose turn it is; used where both prompts must show
        /// it.
        var isShown = Acknowledgement()
    }

    /// A future: whether a client has shown a notice.
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

    /// The request that has the turn.
    private final class Holder {
        let id: UInt64
        let applicant: Applicant
        /// Requests for the same account that are not yet shown by both prompts.
        var newcomers: [UInt64] = []
        /// Requesters with a request that failed to show that it waits. Their later requests do not
        /// stop a scan until they have shown it.
        var unshown: Set<UInt32> = []
        /// Ends the current scan.
        var scan: Interruption?
        /// Ends the wait for the holder's prompt to show a notice.
        var prompt: Interruption?
        /// Ends an enrolment or observation that must yield.
        var enrolment: Interruption?
        var hasYielded = false
        var touched = ContinuousClock.now

        init(_ id: UInt64, applicant: Applicant) {
            self.id = id
            self.applicant = applicant
        }
    }

    private let limit: Int
    private let perRequester: Int
    private let patience: Duration
    private let showing: Duration
    /// Called with true when the readers become used, and with false when they become free.
    private let taken: (Bool) -> Void
    private var holder: Holder? {
        didSet {
            if (oldValue == nil) != (holder == nil) { taken(holder != nil) }
        }
    }
    private var places: [Place] = []
    private var nextID: UInt64 = 0
    private var impatience: Timer?

    /// Creates a queue with `limit` waiting places; `taken` is called when the readers become used
    /// or free.
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

    /// The number of waiting requests.
    var waiting: Int { places.count }

    /// Waits at most `limit` for the turn; the applicant is told whose turn it is, each time that
    /// changes.
    ///
    /// - Throws: `queueFull`, whose subject is the present holder; `timedOut` or `cancelled`.
    package func turn(
        for applicant: Applicant, within limit: Duration
    ) async throws(Denial) -> Turn {
        let id = nextID
        nextID += 1
        if holder == nil {
            holder = Holder(id, applicant: applicant)
            return turn(id)
        }
        let (outcome, expired) = await limited(to: limit) { [self] in
            await place(applicant, id: id)
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

    private func place(_ applicant: Applicant, id: UInt64) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                join(Place(id: id, applicant: applicant, turn: turn))
            }
        } onCancel: {
            onService { self.giveUp(id) }
        }
    }

    /// Adds a place or answers at once. The checks are repeated here, since other requests may have
    /// run during the await.
    private func join(_ place: Place) {
        if Task.isCancelled { return place.turn.resume(returning: .cancelled) }
        guard let holder else {
            self.holder = Holder(place.id, applicant: place.applicant)
            return place.turn.resume(returning: .granted)
        }
        let requester = place.applicant.asker.requester.uid
        let own = places.count { $0.applicant.asker.requester.uid == requester }
        guard places.count < limit, own < perRequester else {
            let name = holder.applicant.asker.name(for: place.applicant.asker)
            return place.turn.resume(returning: .full(inFront: name))
        }
        places.append(place)
        tellWaiting(place, holder: holder)
        if contends(place.applicant, with: holder.applicant), !holder.unshown.contains(requester) {
            contend(place.id, holder: holder)
        }
        watchEnrolment()
    }

    /// Stops the holder's scan until both prompts show that there are two requests.
    private func contend(_ id: UInt64, holder: Holder) {
        guard !holder.newcomers.contains(id) else { return }
        holder.newcomers.append(id)
        holder.scan?.raise()
    }

    /// Whether a touch for one could be mistaken for a touch for the other.
    private func contends(_ newcomer: Applicant, with holder: Applicant) -> Bool {
        newcomer.purpose == .touch && holder.purpose == .touch
            && newcomer.account == holder.account
    }

    /// Tells a waiting request whose turn it is. A request for the holder's account must confirm
    /// that it shows this; if it does not in time, it loses its place.
    private func tellWaiting(_ place: Place, holder: Holder) {
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

    /// Handles the answer of a request for the holder's account, or the lack of one.
    private func settle(_ isShown: Bool, of place: Place, with holder: Holder?) {
        guard let holder, holder === self.holder else { return }
        let requester = place.applicant.asker.requester.uid
        if !isShown {
            holder.unshown.insert(requester)
            giveUp(place.id)
        } else if holder.unshown.contains(requester),
            places.contains(where: { $0.id == place.id })
        {
            contend(place.id, holder: holder)
        }
    }

    /// Ends the turn with this id and grants the next one.
    ///
    /// Requests by requesters other than the last holder come first; among those, touches come
    /// before enrolments and upkeep.
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
        let new = Holder(place.id, applicant: place.applicant)
        holder = new
        for waiting in places {
            tellWaiting(waiting, holder: new)
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
    /// Whether a request for the same account has arrived that is not yet shown by both prompts.
    func isContended(_ turn: borrowing Turn) -> Bool {
        guard let holder, holder.id == turn.id else { return false }
        return !holder.newcomers.isEmpty
    }

    /// Registers a scan, which `interruption` ends when another request for the same account
    /// arrives.
    func beginScan(_ turn: borrowing Turn, interruptedBy interruption: Interruption) {
        guard let holder, holder.id == turn.id else { return }
        holder.scan = interruption
        if !holder.newcomers.isEmpty { interruption.raise() }
    }

    /// Removes the registration of the scan.
    func endScan(_ turn: borrowing Turn) {
        guard let holder, holder.id == turn.id else { return }
        holder.scan = nil
    }

    /// Returns when both prompts show that there are two requests for the account.
    ///
    /// The holder's prompt then shows that another request waits, and the other's prompt whose turn
    /// it is.
    ///
    /// - Throws: `timedOut` if the holder's prompt does not show it before `end`, a time since
    ///   boot; `cancelled` if the holder's client is gone.
    func settleContention(
        of turn: borrowing Turn, until end: Duration, clock: Clock
    ) async throws(Denial) {
        guard let holder, holder.id == turn.id else { return }
        while let id = holder.newcomers.first {
            if let place = places.first(where: { $0.id == id }), await place.isShown.value() {
                try await tell(holder, of: place, until: end, clock: clock)
            }
            holder.newcomers.removeAll { $0 == id }
        }
    }

    private func tell(
        _ holder: Holder, of place: Place, until end: Duration, clock: Clock
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

    /// Ends the current scan and the wait for a prompt, because the machine is about to be
    /// suspended.
    package func interrupt() {
        holder?.scan?.raise()
        holder?.prompt?.raise()
    }
}

// MARK: - Enrolments give way

extension TouchQueue {
    /// Registers an enrolment or observation, which `interruption` ends when it must yield.
    ///
    /// For an enrolment, it is raised when a touch waits and no finger was on the reader for
    /// `patience`; for an observation, as soon as anything else waits.
    package func mayInterrupt(_ turn: borrowing Turn, by interruption: Interruption) {
        guard let holder, holder.id == turn.id else { return }
        holder.enrolment = interruption
        holder.touched = .now
        watchEnrolment()
    }

    /// Records that a finger was on the reader, which restarts the enrolment's patience.
    package func noteTouch(_ turn: borrowing Turn) { noteTouch(turn.id) }

    /// Returns a closure that records a finger, for callers that cannot carry the turn itself.
    package func touchNote(_ turn: borrowing Turn) -> @ServiceActor () -> Void {
        let id = turn.id
        return { [weak self] in self?.noteTouch(id) }
    }

    private func noteTouch(_ id: UInt64) {
        guard let holder, holder.id == id else { return }
        holder.touched = .now
        watchEnrolment()
    }

    /// Whether the enrolment or observation with this turn was interrupted in favour of another
    /// request.
    package func hasYielded(_ turn: borrowing Turn) -> Bool {
        guard let holder, holder.id == turn.id else { return false }
        return holder.hasYielded
    }

    private func yields(_ holder: Applicant, to other: Applicant) -> Bool {
        holder.purpose == .observation
            ? other.purpose != .observation : other.purpose == .touch
    }

    private func watchEnrolment() {
        impatience = nil
        guard let holder, let enrolment = holder.enrolment, !holder.hasYielded,
            places.contains(where: { yields(holder.applicant, to: $0.applicant) })
        else { return }
        let isObservation = holder.applicant.purpose == .observation
        let left =
            isObservation ? .zero : patience - (ContinuousClock.now - holder.touched)
        guard left > .zero else {
            holder.hasYielded = true
            return enrolment.raise()
        }
        impatience = Timer(after: left) { [weak self] in self?.watchEnrolment() }
    }
}
