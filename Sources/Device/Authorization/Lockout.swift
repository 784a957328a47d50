// SPDX-License-Identifier: Apache-2.0
/// Limits failed matches of an account's fingers.
///
/// Every fifth failed match locks the fingers for 30 seconds, and twenty since the last success
/// lock them until the password is given. A scan of bad quality is not a failure. The caller stores
/// each new state before it acts on it: an attempt counts as failed from its beginning. A reboot
/// does not shorten a pause.
package struct Lockout: Equatable, Sendable {
    /// The number of failed matches after which there is a pause.
    package static let failuresPerPause: UInt32 = 5
    /// The number of failed matches since the last success after which only the password unlocks.
    package static let failuresUntilPassword: UInt32 = 20
    /// The duration of a pause.
    package static let pause = Duration.seconds(30)

    /// A time that is independent of the clock: a boot of the machine, and the time since then.
    package struct Moment: Equatable, Sendable {
        /// The kernel's id of the boot, /proc/sys/kernel/random/boot_id.
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

    /// Whether a finger may be tried.
    package enum Verdict: Equatable, Sendable {
        case open
        /// Locked for this duration.
        case lockedForNow(Duration)
        case lockedUntilPassword
    }

    /// The failed matches since the last success or password, including the present attempt.
    package private(set) var failures: UInt32
    /// The start of a pause that may not be over yet.
    package private(set) var pausedAt: Moment?

    /// Creates a state without failures.
    package init() {
        failures = 0
        pausedAt = nil
    }

    /// Creates a state from stored values; the pause at `pausedAt` may be over by now.
    package init(failures: UInt32, pausedAt: Moment?) {
        self.failures = failures
        self.pausedAt = pausedAt
    }

    /// The state for a record that is damaged or missing: locked until the password is given.
    package static let unreadable = Lockout(failures: failuresUntilPassword, pausedAt: nil)

    /// Returns whether a finger may be tried now.
    package func verdict(at now: Moment) -> Verdict {
        if failures >= Lockout.failuresUntilPassword { return .lockedUntilPassword }
        guard let pausedAt else { return .open }
        let left = Lockout.pause - max(.zero, now.elapsed(since: pausedAt))
        return left > .zero ? .lockedForNow(left) : .open
    }

    /// Returns the state to store before the reader is asked, in which the attempt counts as
    /// failed.
    package func beginningAttempt(at now: Moment) -> Lockout {
        var next = self
        next.failures = min(failures, Lockout.failuresUntilPassword - 1) + 1
        let pauses = next.failures % Lockout.failuresPerPause == 0
        next.pausedAt = pauses ? now : nil
        return next
    }

    /// Returns the state after the attempt that this state was stored for did not match.
    ///
    /// A pause starts now, not when the wait for the finger began.
    package func afterMismatch(at now: Moment) -> Lockout {
        var next = self
        if pausedAt != nil { next.pausedAt = now }
        return next
    }

    /// Returns the state after a match, or after the password was given: no failures.
    package func lifted() -> Lockout { Lockout() }
}
