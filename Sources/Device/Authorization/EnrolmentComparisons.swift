// SPDX-License-Identifier: Apache-2.0
/// Limits how often an enrolling account may have a finger compared with other accounts'
/// fingerprints.
///
/// A comparison reveals whether a finger belongs to another account, as a login does. It is
/// therefore counted like one: every fifth comparison starts a pause of 30 seconds, and twenty lock
/// enrolment until root resets the count. The caller stores each new state before it acts on it; a
/// comparison counts from the moment the reader is asked.
///
/// A completed enrolment takes back its own comparison and no other, so that enrolling one's own
/// finger between two guesses forgives neither. It does so at most ten times, since a completed
/// enrolment also reveals that the finger belongs to no other account: guesses that are enrolled
/// and deleted again are limited to the number of a person's fingers. Nothing else lowers the
/// count, neither time nor deletion nor the account's own password, which the attacker knows. An
/// account can therefore make at most thirty comparisons until root intervenes.
package struct EnrolmentComparisons: Equatable, Sendable {
    /// The number of comparisons after which enrolment pauses.
    package static let perPause: UInt32 = 5
    /// The number of comparisons after which only root can unlock enrolment.
    package static let untilRoot: UInt32 = 20
    /// The number of completed enrolments that take back their comparison, one for each finger.
    package static let forgiven: UInt32 = 10
    /// The duration of a pause.
    package static let pause = Lockout.pause

    /// Whether a finger may be compared.
    package enum Verdict: Equatable, Sendable {
        case open
        /// Not for this duration.
        case paused(Duration)
        case lockedUntilRoot
    }

    /// The comparisons since root reset the count, including the present one.
    package private(set) var count: UInt32
    /// The completed enrolments since then that took back their comparison.
    package private(set) var completions: UInt32
    /// The start of a pause that may not be over yet.
    package private(set) var pausedAt: Lockout.Moment?

    /// Creates a state without comparisons.
    package init() {
        self.init(count: 0, completions: 0, pausedAt: nil)
    }

    /// Creates a state from stored values; the pause at `pausedAt` may be over by now.
    package init(count: UInt32, completions: UInt32, pausedAt: Lockout.Moment?) {
        self.count = count
        self.completions = completions
        self.pausedAt = pausedAt
    }

    /// The state for a record that is damaged or missing: locked until root resets it.
    package static let unreadable = EnrolmentComparisons(
        count: untilRoot, completions: forgiven, pausedAt: nil)

    /// Returns whether a finger may be compared now.
    package func verdict(at now: Lockout.Moment) -> Verdict {
        if count >= Self.untilRoot { return .lockedUntilRoot }
        guard let pausedAt else { return .open }
        let left = Self.pause - max(.zero, now.elapsed(since: pausedAt))
        return left > .zero ? .paused(left) : .open
    }

    /// Returns the state to store before the reader is asked.
    package func beginning(at now: Lockout.Moment) -> EnrolmentComparisons {
        var next = self
        next.count = min(count, Self.untilRoot - 1) + 1
        next.pausedAt = next.count % Self.perPause == 0 ? now : nil
        return next
    }

    /// Returns the state after the finger was compared; a pause starts now.
    package func afterComparison(at now: Lockout.Moment) -> EnrolmentComparisons {
        var next = self
        if pausedAt != nil { next.pausedAt = now }
        return next
    }

    /// Returns the state after no finger was compared, or only with the account's own.
    package func takenBack() -> EnrolmentComparisons {
        var next = self
        next.count = max(count, 1) - 1
        next.pausedAt = nil
        return next
    }

    /// Returns the state after the enrolment that this state was stored for was completed.
    package func afterCompletion() -> EnrolmentComparisons {
        guard completions < Self.forgiven else { return self }
        var next = takenBack()
        next.completions += 1
        return next
    }
}
