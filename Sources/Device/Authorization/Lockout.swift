// SPDX-License-Identifier: Apache-2.0
/// Limits failed matches of an account's fingers, and of its password where that takes a finger's
/// place.
///
/// Failures of both count together. Every fifth failed match locks the fingers for 30 seconds, and
/// twenty since the last success lock them until the user gives the password. A scan of bad quality
/// is not a failure. The caller stores each new state before it acts on it, so an attempt counts as
/// failed from its beginning, and a crash or a killed daemon does not undo it. A reboot does not
/// shorten a pause.
package struct Lockout: Equatable, Sendable {
    /// The number of failed matches after which the fingers are locked for a pause.
    package static let failuresPerPause: UInt32 = 5
    /// The number of failed matches since the last success after which only the password unlocks
    /// the fingers.
    package static let failuresUntilPassword: UInt32 = 20
    /// The duration of a pause.
    package static let pause = Duration.seconds(30)

    /// A time that does not depend on the wall clock: a boot of the machine, and the time since
    /// that boot.
    package struct Moment: Equatable, Sendable {
        /// The kernel's id of the boot, as in /proc/sys/kernel/random/boot_id.
        package var boot: [UInt8]
        /// The time since that boot, including suspended time (CLOCK_BOOTTIME).
        package var sinceBoot: Duration

        /// Creates a moment from its values.
        package init(boot: [UInt8], sinceBoot: Duration) {
            self.boot = boot
            self.sinceBoot = sinceBoot
        }

        /// Returns the minimum time that has passed since an earlier moment.
        ///
        /// After a reboot, only the time since the new boot is certain.
        func elapsed(since earlier: Moment) -> Duration {
            boot == earlier.boot ? sinceBoot - earlier.sinceBoot : sinceBoot
        }
    }

    /// The answer to whether a finger may be tried now.
    package enum Verdict: Equatable, Sendable {
        case open
        /// The fingers are locked; this is the time left.
        case lockedForNow(Duration)
        case lockedUntilPassword
    }

    /// The number of failed matches since the last success or password, including the present
    /// attempt.
    package private(set) var failures: UInt32
    /// The start of a pause that may not be over yet.
    package private(set) var pausedAt: Moment?

    /// Creates a state without failures.
    package init() {
        failures = 0
        pausedAt = nil
    }

    /// Creates a state from stored values.
    ///
    /// The pause at `pausedAt` may be over by now.
    package init(failures: UInt32, pausedAt: Moment?) {
        self.failures = failures
        self.pausedAt = pausedAt
    }

    /// The state that stands for a record that is damaged or missing: locked until the user gives
    /// the password.
    package static let unreadable = Lockout(failures: failuresUntilPassword, pausedAt: nil)

    /// Returns whether a finger may be tried now.
    ///
    /// The lock that only the password lifts takes precedence over a pause.
    package func verdict(at now: Moment) -> Verdict {
        if failures >= Lockout.failuresUntilPassword { return .lockedUntilPassword }
        guard let pausedAt else { return .open }
        let left = Lockout.pause - max(.zero, now.elapsed(since: pausedAt))
        return left > .zero ? .lockedForNow(left) : .open
    }

    /// Returns whether the password may be tried now in place of a finger: `.open` or
    /// `.lockedForNow`.
    ///
    /// A pause holds for both. After that, the password may be tried even where only it unlocks the
    /// fingers; from then on, each wrong one starts another pause.
    package func passwordVerdict(at now: Moment) -> Verdict {
        guard let pausedAt else { return .open }
        let left = Lockout.pause - max(.zero, now.elapsed(since: pausedAt))
        return left > .zero ? .lockedForNow(left) : .open
    }

    /// Returns the state to store before the reader is asked or a password is checked: one more
    /// failure.
    ///
    /// Every fifth failure starts a pause at `now`, and so does each one from the twentieth on.
    /// Call it only if `verdict` or `passwordVerdict` is `.open`.
    package func beginningAttempt(at now: Moment) -> Lockout {
        var next = self
        next.failures = min(failures, Lockout.failuresUntilPassword - 1) + 1
        let pauses = next.failures % Lockout.failuresPerPause == 0
        next.pausedAt = pauses ? now : nil
        return next
    }

    /// Returns the state after the attempt that this state was stored for did not match.
    ///
    /// A pause that the attempt started starts over now, since the wait for the finger must not
    /// count towards it.
    package func afterMismatch(at now: Moment) -> Lockout {
        var next = self
        if pausedAt != nil { next.pausedAt = now }
        return next
    }

    /// Returns the state after a match in the attempt for which `counted` was stored: no failures but
    /// those that were added to it since, which came after that finger.
    package func afterMatch(in counted: Lockout) -> Lockout {
        guard failures > counted.failures else { return lifted() }
        let later = failures - counted.failures
        return Lockout(
            failures: later, pausedAt: later < Lockout.failuresPerPause ? nil : pausedAt)
    }

    /// Returns the state after a match, or after the password was given: no failures.
    package func lifted() -> Lockout { Lockout() }
}
