// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Loop
import Policy
import Posix

// The only file that can say that a finger matched. Keys and sealed items open for a `Match` and for
// nothing else (Vault), and the initialiser of `Match` is visible in this file alone: what follows
// `TouchGate.touch` is all there is to review.

/// Evidence that an enrolled finger of one account was on a reader during one turn.
///
/// It cannot be copied, so one touch serves one request: it ends with the `Touch` that holds it.
package struct Match: ~Copyable, Sendable {
    /// The account whose finger it was.
    package let account: UInt32
    /// Who asked for it, and where they were.
    package let presence: Presence
    /// When it matched, since the start of the machine (CLOCK_BOOTTIME).
    private let moment: Duration
    private let clock: Clock

    /// How long ago it matched.
    package var age: Duration { clock.sinceBoot() - moment }

    fileprivate init(account: UInt32, presence: Presence, clock: Clock) {
        self.account = account
        self.presence = presence
        self.clock = clock
        moment = clock.sinceBoot()
    }
}

/// A touch of a request: the match, the finger that matched, and the attempt that still counts.
///
/// Only `TouchGate.touch` makes one. Work that is handed to another thread captures this object and
/// borrows the match from it.
package final class Touch<Finger: Sendable>: Sendable {
    /// What keys open for.
    package let match: Match
    /// The finger, as the scanner knows it.
    package let finger: Finger
    /// On disk as a failure until somebody settles it.
    package let attempt: any LockoutAttempt
    /// How often the machine had been suspended when the finger was asked for.
    package let suspensions: UInt64

    fileprivate init(
        _ match: consuming Match, finger: Finger, attempt: any LockoutAttempt, suspensions: UInt64
    ) {
        self.match = match
        self.finger = finger
        self.attempt = attempt
        self.suspensions = suspensions
    }
}

/// Scans fingers; the real one is the daemon's pool of readers.
package protocol FingerScanner: Sendable {
    /// Whose fingers are looked for, and on which readers.
    associatedtype Query: Sendable
    /// The finger that matched.
    associatedtype Found: Sendable
    /// Waits for one finger; nil where it is none of those that are looked for.
    @ServiceActor func scan(
        _ query: Query, limit: Duration, tell: @escaping @ServiceActor (Notice) -> Void
    ) async throws(Denial) -> Found?
}

/// One attempt, which is on disk as a failure from before the reader is asked.
package protocol LockoutAttempt: Sendable {
    /// The finger did not match. Throws where that locks the finger.
    func failed() throws(Denial)
    /// No finger was judged: the attempt never was.
    func takeBack()
    /// Throws where the finger has been locked meanwhile, by anything but this attempt.
    func check() throws(Denial)
    /// The finger matched, and the request came about.
    func succeeded() throws(Denial)
}

/// The failed attempts of one account.
@ServiceActor
package protocol LockoutLedger {
    /// Throws where the finger is locked.
    func check() throws(Denial)
    /// Counts an attempt as failed, durably.
    func begin() throws(Denial) -> any LockoutAttempt
}

/// Whether the machine sleeps, and how often it has.
@ServiceActor
package protocol SuspendState: AnyObject, Sendable {
    /// Whether it is about to.
    var isSuspending: Bool { get }
    /// Grows with each time.
    var suspensions: UInt64 { get }
}

/// What a request wants of a touch.
package struct TouchRequest<Query: Sendable>: Sendable {
    /// The account whose finger is meant.
    package let account: UInt32
    /// What the scanner looks for.
    package let query: Query
    /// How many fingers may fail to match.
    package let tries: Int
    /// When the wait ends, since the start of the machine.
    package let end: Duration

    /// All of it.
    package init(account: UInt32, query: Query, tries: Int, end: Duration) {
        self.account = account
        self.query = query
        self.tries = tries
        self.end = end
    }
}

/// The one way from a request to a finger that matched.
///
/// A daemon makes one, with its readers as the scanner, and `checks/imports` sees to that.
@ServiceActor
package final class TouchGate<Scanner: FingerScanner> {
    private let scanner: Scanner
    private let queue: TouchQueue
    private let examiner: PresenceExaminer
    private let machine: any SuspendState
    private let clock: Clock

    /// A gate in front of a scanner. Whoever passes takes turns by the queue.
    package init(
        _ scanner: Scanner, queue: TouchQueue, examiner: PresenceExaminer,
        machine: any SuspendState, clock: Clock
    ) {
        self.scanner = scanner
        self.queue = queue
        self.examiner = examiner
        self.machine = machine
        self.clock = clock
    }

    /// Waits for the turn at the readers, at most `limit`. Throws `queueFull`, `suspending`,
    /// `timedOut` or `cancelled`. The turn ends with the value that this gives.
    package func turn(
        for applicant: Applicant, within limit: Duration
    ) async throws(Denial) -> Turn {
        if machine.isSuspending { throw Denial(.suspending) }
        let turn = try await queue.turn(for: applicant, within: limit)
        if machine.isSuspending { throw Denial(.suspending) }
        return turn
    }

    /// Waits for a finger until one matches, the tries are used up, the time is over, or the lockout
    /// closes. Each attempt is on disk as a failure before the reader is asked, so that no restart
    /// forgives one.
    ///
    /// - Parameters:
    ///   - presence: that the person who asks is there. It is examined again before the reader is
    ///     asked, since the turn may have taken a minute to come, and after the match.
    ///   - turn: possession of the readers.
    ///   - interruption: ends the wait early, as `cancelled`.
    package func touch(
        _ request: TouchRequest<Scanner.Query>, presence: Presence, during turn: borrowing Turn,
        counting ledger: any LockoutLedger, interruptedBy interruption: Interruption,
        telling tell: @escaping @ServiceActor (Notice) -> Void
    ) async throws(Denial) -> Touch<Scanner.Found> {
        guard presence.account == request.account else { throw Denial(.notPermitted) }
        try examiner.examine(presence)
        let suspensions = machine.suspensions
        var mismatches: UInt8 = 0
        do throws(Denial) {
            while true {
                try ledger.check()
                try await settleContention(of: turn, until: request.end)
                let attempt = try ledger.begin()
                let finger: Scanner.Found?
                do throws(Denial) {
                    finger = try await scan(
                        request, during: turn, interruptedBy: interruption, telling: tell)
                } catch {
                    attempt.takeBack()
                    guard error.reason == .cancelled, queue.isContended(turn),
                        !interruption.isRaised, !Task.isCancelled
                    else { throw error }
                    continue
                }
                if let finger {
                    let match = Match(account: request.account, presence: presence, clock: clock)
                    do throws(Denial) {
                        try examiner.confirm(presence)
                    } catch {
                        attempt.takeBack()
                        throw error
                    }
                    return Touch(
                        match, finger: finger, attempt: attempt, suspensions: suspensions)
                }
                mismatches += 1
                try attempt.failed()
                let left = request.tries - Int(mismatches)
                guard left > 0 else { throw Denial(.noMatch) }
                tell(Notice(.noMatch, triesLeft: UInt8(clamping: left)))
            }
        } catch {
            var denial = error
            denial.mismatches = mismatches
            throw denial
        }
    }

    private func settleContention(
        of turn: borrowing Turn, until end: Duration
    ) async throws(Denial) {
        do throws(Denial) {
            try await queue.settleContention(of: turn, until: end, clock)
        } catch { throw machine.isSuspending ? Denial(.suspending) : error }
    }

    /// One scan, which also ends when another request for the same account arrives: before a finger
    /// is taken, both prompts have to say that there are two.
    private func scan(
        _ request: TouchRequest<Scanner.Query>, during turn: borrowing Turn,
        interruptedBy interruption: Interruption,
        telling tell: @escaping @ServiceActor (Notice) -> Void
    ) async throws(Denial) -> Scanner.Found? {
        let left = request.end - clock.sinceBoot()
        guard left > .zero else { throw Denial(.timedOut) }
        let (scanner, query) = (scanner, request.query)
        let contention = Interruption()
        queue.beginScan(turn, interruptedBy: contention)
        defer { queue.endScan(turn) }
        let result = await interruptible(by: interruption) {
            await interruptible(by: contention) {
                () async -> Result<Scanner.Found?, Denial> in
                do throws(Denial) {
                    return .success(try await scanner.scan(query, limit: left, tell: tell))
                } catch { return .failure(error) }
            }
        }
        if case .failure(let denial) = result, denial.reason == .cancelled, machine.isSuspending {
            throw Denial(.suspending)
        }
        return try result.get()
    }
}
