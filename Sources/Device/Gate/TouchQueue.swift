// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

/// Grants the readers to one request at a time and tells waiting clients whose turn it is.
///
/// Fairness is by requester, not by the account that the touch is for. A requester holds at most a
/// quarter of the waiting places (but at least one), and never gets two turns in a row while
/// another requester waits.
///
/// If two touches are for the same account, a user could touch the reader for one and have it
/// counted for the other. Therefore no finger is scanned for the turn's holder until both prompts
/// have shown that there are two requests; a newcomer that does not show this loses its place.
///
/// Enrolments, touches for desktops and observations give way: an enrolment ends when a touch waits
/// and no finger has been on the reader for `patience`, a touch for a desktop as soon as a touch
/// waits, an observation as soon as any other kind of request waits.
@ServiceActor
package final class TouchQueue {
    /// The time without a finger on the reader after which an enrolment yields to a waiting touch.
    package static let patience = Duration.seconds(15)
    /// The time within which the client of a waiting touch for the holder's account must confirm
    /// that it shows the notice.
    package static let showing = Duration.seconds(2)

    private struct Place {
        let id: UInt64
        let applicant: Applicant
        let turn: CheckedContinuation<Outcome, Never>
        /// Settled when a client that must show whose turn it is has answered, or failed to answer
        /// in time.
        var isShown = Acknowledgement()
    }

    /// A future for a client's answer: whether it has shown a notice.
    @ServiceActor private final class Acknowledgement {
        private var answer: Bool?
        private var waiting: CheckedContinuation<Bool, Never>?

        func settle(_ isShown: Bool) {
            answer = isShown
            waiting?.resume(returning: isShown)
            waiting = nil
        }

        /// Waits for the answer; one caller may wait at a time.
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

    /// What became of a request for a turn.
    private enum Outcome {
        case granted
        case full(inFront: Bytes)
        case cancelled
    }

    /// The request that has the turn.
    private final class Holder {
        let id: UInt64
        let applicant: Applicant
        /// Waiting touches for the same account, in order of arrival, that both prompts have yet to
        /// show.
        var newcomers: [UInt64] = []
        /// The uids of requesters whose client failed to show a notice in time.
        ///
        /// A later request of such a requester does not stop a scan until its client has shown the
        /// notice.
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
    /// Called with true when the first request gets the readers, and with false when they become
    /// free.
    private let taken: (Bool) -> Void
    private var holder: Holder? {
        didSet {
            if (oldValue == nil) != (holder == nil) { taken(holder != nil) }
        }
    }
    private var places: [Place] = []
    private var nextID: UInt64 = 0
    private var impatience: Timer?

    /// Creates a queue with `limit` waiting places.
    ///
    /// `taken` is called with true when the readers become used, and with false when they become
    /// free.
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

    /// Waits at most `limit` for the turn at the readers.
    ///
    /// The applicant's client is told whose turn it is, and again each time that changes. A
    /// cancelled task gives up its place.
    ///
    /// - Throws: `queueFull` if no waiting place is free or the requester already holds its share,
    ///   with a description of the present holder as the subject; `timedOut` after `limit`;
    ///   `cancelled` if the task is cancelled or the client does not show a notice that it must
    ///   show.
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

    /// Adds a place to the line, or resumes the request at once.
    ///
    /// Everything is checked here, after the suspension, because other requests may have run since
    /// `turn(for:within:)` was called.
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

    /// Stops the holder's scan until both prompts have shown that there are two requests.
    private func contend(_ id: UInt64, holder: Holder) {
        guard !holder.newcomers.contains(id) else { return }
        holder.newcomers.append(id)
        holder.scan?.raise()
    }

    /// Whether a finger for one request could be taken for a finger for the other: both are touches
    /// for the same account.
    private func contends(_ newcomer: Applicant, with holder: Applicant) -> Bool {
        newcomer.purpose == .touch && holder.purpose == .touch
            && newcomer.account == holder.account
    }

    /// Tells a waiting client whose turn it is.
    ///
    /// If both requests are touches for the same account, the client must confirm within `showing`
    /// that it displays this; otherwise its request loses its place.
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

    /// Applies the answer of a client that had to show the notice.
    ///
    /// Without a confirmation, the request loses its place and its requester is marked as
    /// `unshown`. With one, a requester marked earlier may stop the holder's scan again. An answer
    /// that arrives after the turn has changed hands has no effect.
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
    /// Requests by other requesters than the last holder come first, and among the candidates the
    /// longest waiting touch comes before enrolments, upkeep and observations. The new holder's
    /// scan is held back for every waiting touch for its account.
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
    /// Whether a touch for the holder's account waits that both prompts have yet to show.
    func isContended(_ turn: borrowing Turn) -> Bool {
        guard let holder, holder.id == turn.id else { return false }
        return !holder.newcomers.isEmpty
    }

    /// Registers the holder's scan.
    ///
    /// `interruption` is raised when another touch for the same account arrives, and at once if one
    /// is waiting to be shown.
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

    /// Returns once both prompts have shown every waiting touch for the holder's account.
    ///
    /// The holder's prompt then shows who else is waiting, and the other prompt shows whose turn it
    /// is. A newcomer that has left, or whose client did not show its notice, is skipped.
    ///
    /// - Throws: `timedOut` if the holder's client does not confirm before `end`, a time since
    ///   boot; `cancelled` if it is gone or the wait was interrupted.
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

    /// Ends the current scan and the wait for the holder's prompt, because the machine is about to
    /// be suspended.
    package func interrupt() {
        holder?.scan?.raise()
        holder?.prompt?.raise()
    }
}

// MARK: - Enrolments give way

extension TouchQueue {
    /// Registers an enrolment or observation, which `interruption` ends when it must yield.
    ///
    /// An enrolment must yield when a touch waits and no finger has been on the reader for
    /// `patience`; an observation, as soon as a request that is not an observation waits.
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

    /// Whether the enrolment or observation with this turn was ended in favour of another request.
    package func hasYielded(_ turn: borrowing Turn) -> Bool {
        guard let holder, holder.id == turn.id else { return false }
        return holder.hasYielded
    }

    /// Whether the holder must give way while this other request waits.
    private func yields(_ holder: Applicant, to other: Applicant) -> Bool {
        switch holder.purpose {
        case .observation: other.purpose != .observation
        case .desktop, .enrolment: other.purpose == .touch
        case .touch, .upkeep: false
        }
    }

    /// Ends the holder's enrolment or observation if it must yield now, or sets the timer for the
    /// moment at which it must.
    private func watchEnrolment() {
        impatience = nil
        guard let holder, let enrolment = holder.enrolment, !holder.hasYielded,
            places.contains(where: { yields(holder.applicant, to: $0.applicant) })
        else { return }
        let isPatient = holder.applicant.purpose == .enrolment
        let left =
            isPatient ? patience - (ContinuousClock.now - holder.touched) : .zero
        guard left > .zero else {
            holder.hasYielded = true
            return enrolment.raise()
        }
        impatience = Timer(after: left) { [weak self] in self?.watchEnrolment() }
    }
}
