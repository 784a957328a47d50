// SPDX-License-Identifier: Apache-2.0
/// When failed matches keep the finger out.
///
/// Every fifth failed match locks it for 30 seconds; twenty since the last success lock it until
/// the password was given. A scan that was merely bad is no failure. The caller stores each new
/// state before it acts on it: an attempt counts as failed from the moment it begins.
package struct Lockout: Equatable, Sendable {
    /// Failed matches after which the finger is locked for a while.
    package static let failuresPerPause: UInt32 = 5
    /// Failed matches since the last success after which only the password helps.
    package static let failuresUntilPassword: UInt32 = 20
    /// How long a pause lasts.
    package static let pause = Duration.seconds(30)

    /// A moment that setting the clock cannot move: one boot of the machine, and the time since.
    package struct Moment: Equatable, Sendable {
        /// The kernel's id of this boot, /proc/sys/kernel/random/boot_id.
        package var boot: [UInt8]
        /// Since that boot, suspended time included (CLOCK_BOOTTIME).
        package var sinceBoot: Duration

        /// A boot, and the time since.
        package init(boot: [UInt8], sinceBoot: Duration) {
            self.boot = boot
            self.sinceBoot = sinceBoot
        }

        /// The least time that has surely passed since an earlier moment.
        ///
        /// Across a reboot only the time since the newer boot is sure.
        func elapsed(since earlier: Moment) -> Duration {
            boot == earlier.boot ? sinceBoot - earlier.sinceBoot : sinceBoot
        }
    }

    /// Whether the finger may be tried.
    package enum Verdict: Equatable, Sendable {
        case open
        /// Closed for this long.
        case lockedForNow(Duration)
        case lockedUntilPassword
    }

    /// Failed matches since the last success or password, the one under way included.
    package private(set) var failures: UInt32
    /// When the pause that is not over yet began.
    package private(set) var pausedAt: Moment?

    /// No failures.
    package init() {
        failures = 0
        pausedAt = nil
    }

    /// What was stored; `failures` as counted, `pausedAt` of a pause that may be over by now.
    package init(failures: UInt32, pausedAt: Moment?) {
        self.failures = failures
        self.pausedAt = pausedAt
    }

    /// What stands for a record that is damaged: only the password helps.
    package static let unreadable = Lockout(failures: failuresUntilPassword, pausedAt: nil)

    /// Whether the finger may be tried now.
    package func verdict(at now: Moment) -> Verdict {
        if failures >= Lockout.failuresUntilPassword { return .lockedUntilPassword }
        guard let pausedAt else { return .open }
        let left = Lockout.pause - max(.zero, now.elapsed(since: pausedAt))
        return left > .zero ? .lockedForNow(left) : .open
    }

    /// The state to store before the reader is asked: the attempt counts as failed already.
    package func beginningAttempt(at now: Moment) -> Lockout {
        var next = self
        next.failures = min(failures, Lockout.failuresUntilPassword - 1) + 1
        let pauses = next.failures % Lockout.failuresPerPause == 0
        next.pausedAt = pauses ? now : nil
        return next
    }

    /// The state after an attempt that this state was stored for did not match.
    ///
    /// The pause is counted from now, not from when the finger was awaited.
    package func afterMismatch(at now: Moment) -> Lockout {
        var next = self
        if pausedAt != nil { next.pausedAt = now }
        return next
    }

    /// The state after a match, or after the password was given.
    package func lifted() -> Lockout { Lockout() }
}
