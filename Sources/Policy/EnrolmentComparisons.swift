// SPDX-License-Identifier: Apache-2.0
/// How often an account that enrols has had a finger compared with other accounts' fingerprints, and
/// when it must wait.
///
/// Such a comparison tells whether a finger is another account's, as a login does, so it is counted
/// as a login is: every fifth one pauses for 30 seconds, and twenty lock enrolment until root lifts
/// that. The caller stores each new state before it acts on it: a comparison counts from the moment
/// the reader is asked.
///
/// An enrolment that is completed takes its own comparison back and no other, so enrolling a finger
/// of one's own between two guesses forgives neither. And it does so ten times at the most, since a
/// completed enrolment also tells that the finger is no other account's: guesses that are enrolled
/// and deleted again are as many as a person has fingers, and count after that. Nothing else lowers
/// the count: no time that passes, no deletion, not the account's own password, which the one who
/// guesses has. Thirty comparisons are thus the most that an account can have until root looks at it.
package struct EnrolmentComparisons: Equatable, Sendable {
    /// Comparisons after which enrolment pauses.
    package static let perPause: UInt32 = 5
    /// Comparisons after which only root helps.
    package static let untilRoot: UInt32 = 20
    /// Completed enrolments that take their own comparison back: as many as there are fingers.
    package static let forgiven: UInt32 = 10
    /// How long a pause lasts.
    package static let pause = Lockout.pause

    /// Whether a finger may be compared.
    package enum Verdict: Equatable, Sendable {
        case open
        /// Not for this long.
        case paused(Duration)
        case lockedUntilRoot
    }

    /// Comparisons since root lifted them, the one under way included.
    package private(set) var count: UInt32
    /// Completed enrolments since then that took their comparison back.
    package private(set) var completions: UInt32
    /// When the pause that is not over yet began.
    package private(set) var pausedAt: Lockout.Moment?

    /// No comparisons.
    package init() {
        self.init(count: 0, completions: 0, pausedAt: nil)
    }

    /// What was stored; `pausedAt` of a pause that may be over by now.
    package init(count: UInt32, completions: UInt32, pausedAt: Lockout.Moment?) {
        self.count = count
        self.completions = completions
        self.pausedAt = pausedAt
    }

    /// What a record that is damaged or missing stands for: only root helps.
    package static let unreadable = EnrolmentComparisons(
        count: untilRoot, completions: forgiven, pausedAt: nil)

    /// Whether a finger may be compared now.
    package func verdict(at now: Lockout.Moment) -> Verdict {
        if count >= Self.untilRoot { return .lockedUntilRoot }
        guard let pausedAt else { return .open }
        let left = Self.pause - max(.zero, now.elapsed(since: pausedAt))
        return left > .zero ? .paused(left) : .open
    }

    /// The state to store before the reader is asked.
    package func beginning(at now: Lockout.Moment) -> EnrolmentComparisons {
        var next = self
        next.count = min(count, Self.untilRoot - 1) + 1
        next.pausedAt = next.count % Self.perPause == 0 ? now : nil
        return next
    }

    /// The state after the finger was compared: a pause is counted from now.
    package func afterComparison(at now: Lockout.Moment) -> EnrolmentComparisons {
        var next = self
        if pausedAt != nil { next.pausedAt = now }
        return next
    }

    /// The state after nothing was compared, or nothing but the account's own fingers.
    package func takenBack() -> EnrolmentComparisons {
        var next = self
        next.count = max(count, 1) - 1
        next.pausedAt = nil
        return next
    }

    /// The state after the enrolment that this state was stored for was completed.
    package func afterCompletion() -> EnrolmentComparisons {
        guard completions < Self.forgiven else { return self }
        var next = takenBack()
        next.completions += 1
        return next
    }
}
