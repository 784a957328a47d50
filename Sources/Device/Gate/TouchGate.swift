// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

// This is the only file that can create a `Match`, because the initialiser of `Match` is
// `fileprivate`. Vaults sign and open sealed data only for a `Match`, with the exceptions in
// `Sealing/WithoutMatch.swift`. To review whether a match can be forged, read `TouchGate.touch` and
// what it calls.

/// Evidence that an enrolled finger of one account was on a reader during one turn.
///
/// `TouchGate.touch` creates it after the scanner has reported a matching finger, while the attempt
/// still counts as failed on disk. It cannot be copied and lives in one `Touch`, so that one touch
/// serves one request. Vaults check the account and the age before they open anything for it.
package struct Match: ~Copyable, Sendable {
    /// The account that the finger belongs to.
    package let account: UInt32
    /// Evidence of who requested the touch and from where.
    package let presence: Presence
    /// The time of the match since boot (CLOCK_BOOTTIME, which includes time spent suspended).
    fileprivate let moment: Duration
    private let clock: Clock

    /// The time since the match.
    package var age: Duration { clock.sinceBoot() - moment }

    fileprivate init(account: UInt32, presence: Presence, clock: Clock) {
        self.account = account
        self.presence = presence
        self.clock = clock
        moment = clock.sinceBoot()
    }
}

/// The result of a successful touch: the match, the finger that matched, and the open attempt.
///
/// Only `TouchGate.touch` creates one. Because `Match` cannot be copied, work that moves to another
/// thread captures this object and borrows the match from it. The request must settle `attempt`,
/// otherwise it remains counted as a failure.
package final class Touch<Finger: Sendable>: Sendable {
    /// The match; vaults open keys for it.
    package let match: Match
    /// The finger that matched, in the scanner's representation.
    package let finger: Finger
    /// The attempt, recorded on disk as a failure until the request settles it.
    package let attempt: any LockoutAttempt
    /// When the finger was first asked for, as time since boot; the moment of the match if the scanner
    /// never asked.
    package let asked: Duration
    /// The value of `SuspendState.suspensions` when the touch began.
    ///
    /// Comparing it later shows whether the machine was suspended in between.
    package let suspensions: UInt64

    fileprivate init(
        _ match: consuming Match, finger: Finger, attempt: any LockoutAttempt, asked: Duration?,
        suspensions: UInt64
    ) {
        self.asked = asked ?? match.moment
        self.match = match
        self.finger = finger
        self.attempt = attempt
        self.suspensions = suspensions
    }
}

/// Waits for a finger on a reader and compares it with the prints of a query.
///
/// The daemon has one implementation, its pool of readers. The gate trusts its result: a value
/// other than nil makes a `Match`.
package protocol FingerScanner: Sendable {
    /// The fingers to look for, and the readers to look on.
    associatedtype Query: Sendable
    /// The scanner's representation of a finger that matched.
    associatedtype Found: Sendable
    /// Waits at most `limit` for one finger; returns nil if it matches none of the query's prints.
    ///
    /// `tell` receives notices to show to the client meanwhile. Throws a denial if no finger was
    /// judged, for example `timedOut`, `cancelled` or a fault of the reader.
    @ServiceActor func scan(
        _ query: Query, limit: Duration, tell: @escaping @ServiceActor (Notice) -> Void
    ) async throws(Denial) -> Found?
}

/// One attempt at a touch, recorded on disk as a failure before the reader is asked.
///
/// Exactly one of `failed`, `takeBack` and `succeeded` settles it. An attempt that is never
/// settled, for example because the daemon was killed, remains a failure.
package protocol LockoutAttempt: Sendable {
    /// Settles the attempt as a failure, because the finger did not match.
    ///
    /// Throws the lockout if the account is locked out now, or `storage` if the disk fails.
    func failed() throws(Denial)
    /// Removes the attempt from the count, because no finger was judged or the touch was not used.
    func takeBack()
    /// Throws if the account is locked out now for another reason than this attempt.
    func check() throws(Denial)
    /// Settles the attempt as a success and resets the count of failures.
    ///
    /// Throws `storage` if the disk fails; the attempt then remains counted.
    func succeeded() throws(Denial)
}

/// Counts the failed attempts of one account, on disk.
@ServiceActor
package protocol LockoutLedger {
    /// Throws if a lockout is in effect.
    func check() throws(Denial)
    /// Starts an attempt and records it durably as a failure.
    func begin() throws(Denial) -> any LockoutAttempt
}

/// Reports whether the machine is about to be suspended, and how often it has been suspended.
@ServiceActor
package protocol SuspendState: AnyObject, Sendable {
    /// Whether the machine is about to be suspended.
    var isSuspending: Bool { get }
    /// A counter that grows with each suspension.
    var suspensions: UInt64 { get }
}

/// The parameters of one touch.
package struct TouchRequest<Query: Sendable>: Sendable {
    /// The account whose finger is expected.
    package let account: UInt32
    /// What the scanner is asked for: the prints, and the readers to use.
    package let query: Query
    /// How many fingers may fail to match; the last mismatch ends the touch.
    package let tries: Int
    /// How long the user has from the first request for a finger; all tries share it.
    package let timeout: Duration

    /// Creates a request from its values.
    package init(account: UInt32, query: Query, tries: Int, timeout: Duration) {
        self.account = account
        self.query = query
        self.tries = tries
        self.timeout = timeout
    }
}

/// The only way from a request to a matching finger.
///
/// The gate makes requests take turns, re-examines presence, counts every attempt on disk before
/// the reader is asked, and creates the `Match`. The daemon creates a single gate, with its readers
/// as the scanner; `checks/imports` enforces that.
@ServiceActor
package final class TouchGate<Scanner: FingerScanner> {
    private let scanner: Scanner
    private let queue: TouchQueue
    private let examiner: PresenceExaminer
    private let machine: any SuspendState
    private let clock: Clock
    private let preparation: Duration

    /// Creates a gate for a scanner; `queue` decides the order of the requests.
    ///
    /// `preparation` is how long the machine may take until it asks for a finger.
    package init(
        _ scanner: Scanner, queue: TouchQueue, examiner: PresenceExaminer,
        machine: any SuspendState, clock: Clock, preparation: Duration = TouchTime.preparation
    ) {
        self.preparation = preparation
        self.scanner = scanner
        self.queue = queue
        self.examiner = examiner
        self.machine = machine
        self.clock = clock
    }

    /// Waits at most `limit` for a turn at the readers.
    ///
    /// - Throws: What `TouchQueue.turn` throws (`queueFull`, `timedOut` or `cancelled`), and
    ///   `suspending` if the machine is about to be suspended before or after the wait.
    /// - Returns: The turn, which ends when this value goes out of scope.
    package func turn(
        for applicant: Applicant, within limit: Duration
    ) async throws(Denial) -> Turn {
        if machine.isSuspending { throw Denial(.suspending) }
        let turn = try await queue.turn(for: applicant, within: limit)
        if machine.isSuspending { throw Denial(.suspending) }
        return turn
    }

    /// Waits until a finger matches, and returns the match.
    ///
    /// Each attempt is recorded on disk as a failure before the reader is asked, so that killing
    /// the daemon or restarting it forgives no attempt. An attempt in which no finger was judged is
    /// taken back, and so is one whose presence no longer holds after the match. The wait ends
    /// without a match when the tries are used up, the time is over, or a lockout begins. The time
    /// begins when a finger is first asked for, and is preceded by the preparation. A scan
    /// that was stopped because a second touch for the account arrived is repeated once both
    /// prompts show it.
    ///
    /// The attempt of a successful touch still counts as a failure; the caller must settle it.
    ///
    /// - Parameters:
    ///   - presence: Evidence that the requester is at the machine. It is examined again before the
    ///     first attempt, since the wait for the turn may have taken a minute, and after the match.
    ///   - turn: The right to use the readers.
    ///   - ledger: The failed attempts of the account.
    ///   - interruption: Ends the wait early with `cancelled`.
    ///   - tell: Receives notices for the client, such as the number of tries left after a
    ///     mismatch.
    /// - Throws: `notPermitted` if the presence is for another account; `noMatch` after the last
    ///   try; `timedOut`, `cancelled` or `suspending`; `readerFailed` if the preparation takes too
    ///   long; `changedMeanwhile` if presence no longer holds after the match; also what the first
    ///   examination, the ledger and the scanner throw.
    ///   A denial after the first examination carries the number of mismatches.
    package func touch(
        _ request: TouchRequest<Scanner.Query>, presence: Presence, during turn: borrowing Turn,
        counting ledger: any LockoutLedger, interruptedBy interruption: Interruption,
        telling tell: @escaping @ServiceActor (Notice) -> Void
    ) async throws(Denial) -> Touch<Scanner.Found> {
        guard presence.account == request.account else { throw Denial(.notPermitted) }
        try examiner.examine(presence)
        let suspensions = machine.suspensions
        let time = TouchTime(request.timeout, clock: clock, preparation: preparation)
        var mismatches: UInt8 = 0
        do throws(Denial) {
            while true {
                try ledger.check()
                try await settleContention(of: turn, until: time.end)
                let attempt = try ledger.begin()
                let finger: Scanner.Found?
                do throws(Denial) {
                    finger = try await scan(
                        request, during: turn, within: time, interruptedBy: interruption,
                        telling: tell)
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
                        match, finger: finger, attempt: attempt, asked: time.asked,
                        suspensions: suspensions)
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

    /// Waits until both prompts show every competing touch.
    ///
    /// A suspension that ended the wait is thrown as `suspending`.
    private func settleContention(
        of turn: borrowing Turn, until end: Duration
    ) async throws(Denial) {
        do throws(Denial) {
            try await queue.settleContention(of: turn, until: end, clock: clock)
        } catch { throw machine.isSuspending ? Denial(.suspending) : error }
    }

    /// Runs one scan, within the time that is left.
    ///
    /// It also ends, with `cancelled`, when another touch for the same account arrives, because
    /// both prompts must show that there are two requests before a finger is accepted.
    private func scan(
        _ request: TouchRequest<Scanner.Query>, during turn: borrowing Turn,
        within time: TouchTime, interruptedBy interruption: Interruption,
        telling tell: @escaping @ServiceActor (Notice) -> Void
    ) async throws(Denial) -> Scanner.Found? {
        let left = try time.left()
        let (scanner, query, expiry) = (scanner, request.query, time.expiry())
        let contention = Interruption()
        queue.beginScan(turn, interruptedBy: contention)
        defer { queue.endScan(turn) }
        let result = await interruptible(by: interruption) {
            await interruptible(by: contention) {
                await interruptible(by: expiry) {
                    () async -> Result<Scanner.Found?, Denial> in
                    do throws(Denial) {
                        return .success(
                            try await scanner.scan(query, limit: left) { notice in
                                time.hear(notice)
                                tell(notice)
                            })
                    } catch { return .failure(error) }
                }
            }
        }
        if case .failure(let denial) = result, denial.reason == .cancelled {
            if machine.isSuspending { throw Denial(.suspending) }
            if time.isOver, !Task.isCancelled, !interruption.isRaised { throw time.denial }
        }
        return try result.get()
    }
}
