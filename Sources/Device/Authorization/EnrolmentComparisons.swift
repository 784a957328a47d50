// SPDX-License-Identifier: Apache-2.0
/// Limits how often an account that enrols a finger may have it compared with other accounts'
/// prints.
///
/// A comparison reveals whether the finger belongs to another account, as a login does. It is
/// therefore counted like one: every fifth comparison starts a pause of 30 seconds, and twenty lock
/// enrolment until root resets the count. The caller stores each new state before it acts on it; a
/// comparison counts from the moment the reader is asked.
///
/// A completed enrolment takes back its own comparison and no other, so that enrolling one's own
/// finger between two guesses forgives neither. It does so at most ten times, since a completed
/// enrolment also reveals that the finger belongs to no other account: guesses that are enrolled
/// and deleted again are limited to the number of a person's fingers. A comparison is also taken
/// back if no finger was compared, or only with the account's own prints. Nothing else lowers the
/// count: not time, not the deletion of a finger, and not the account's own password, which the
/// attacker knows. An account can therefore make at most thirty comparisons until root intervenes.
package struct EnrolmentComparisons: Equatable, Sendable {
    /// The number of comparisons after which enrolment pauses.
    package static let perPause: UInt32 = 5
    /// The number of comparisons after which only root can unlock enrolment.
    package static let untilRoot: UInt32 = 20
    /// The number of completed enrolments that take back their comparison, one for each finger of a
    /// person.
    package static let forgiven: UInt32 = 10
    /// The duration of a pause.
    package static let pause = Lockout.pause

    /// The answer to whether a finger may be compared now.
    package enum Verdict: Equatable, Sendable {
        case open
        /// Comparisons are paused; this is the time left.
        case paused(Duration)
        case lockedUntilRoot
    }

    /// The comparisons since root reset the count, including the present one.
    package private(set) var count: UInt32
    /// The number of completed enrolments since then that took back their comparison.
    package private(set) var completions: UInt32
    /// The start of a pause that may not be over yet.
    package private(set) var pausedAt: Lockout.Moment?

    /// Creates a state without comparisons.
    package init() {
        self.init(count: 0, completions: 0, pausedAt: nil)
    }

    /// Creates a state from stored values.
    ///
    /// The pause at `pausedAt` may be over by now.
    package init(count: UInt32, completions: UInt32, pausedAt: Lockout.Moment?) {
        self.count = count
        self.completions = completions
        self.pausedAt = pausedAt
    }

    /// The state that stands for a record that is damaged or missing: locked until root resets it.
    package static let unreadable = EnrolmentComparisons(
        count: untilRoot, completions: forgiven, pausedAt: nil)

    /// Returns whether a finger may be compared now.
    ///
    /// The lock takes precedence over a pause. After a reboot, only the time since the boot counts
    /// towards the end of a pause.
    package func verdict(at now: Lockout.Moment) -> Verdict {
        if count >= Self.untilRoot { return .lockedUntilRoot }
        guard let pausedAt else { return .open }
        let left = Self.pause - max(.zero, now.elapsed(since: pausedAt))
        return left > .zero ? .paused(left) : .open
    }

    /// Returns the state to store before the reader is asked: one more comparison.
    ///
    /// Every fifth comparison starts a pause at `now`. Call it only if `verdict` is `.open`.
    package func beginning(at now: Lockout.Moment) -> EnrolmentComparisons {
        var next = self
        next.count = min(count, Self.untilRoot - 1) + 1
        next.pausedAt = next.count % Self.perPause == 0 ? now : nil
        return next
    }

    /// Returns the state after the finger was compared.
    ///
    /// A pause that this comparison started starts over now.
    package func afterComparison(at now: Lockout.Moment) -> EnrolmentComparisons {
        var next = self
        if pausedAt != nil { next.pausedAt = now }
        return next
    }

    /// Returns the state after an attempt in which no finger was compared, or only with the
    /// account's own prints.
    ///
    /// It removes one comparison and any pause.
    package func takenBack() -> EnrolmentComparisons {
        var next = self
        next.count = max(count, 1) - 1
        next.pausedAt = nil
        return next
    }

    /// Returns the state after the enrolment that this comparison was made for was completed.
    ///
    /// It takes the comparison back unless ten completed enrolments have done so already.
    package func afterCompletion() -> EnrolmentComparisons {
        guard completions < Self.forgiven else { return self }
        var next = takenBack()
        next.completions += 1
        return next
    }
}
