// SPDX-License-Identifier: Apache-2.0

/// Limits the calls of each user, so that no user's program can keep the others' from the daemon.
///
/// A user has `burst` calls, and gains `perSecond` each second. It is one user that calls too often
/// and not the machine: signetd sees all of them as one client, with one limit.
package struct CallAllowance: Sendable {
    /// How many calls a user may make at once.
    package static let burst = 30
    /// How many calls a user gains each second.
    package static let perSecond = 5
    /// How many calls of one user may be in progress.
    package static let pending = 8

    private struct User {
        var left = CallAllowance.burst
        var since = Duration.zero
        var pending = 0
    }

    private var users: [UInt32: User] = [:]

    /// Creates an unused allowance.
    package init() {}

    /// Begins a call; returns false if the user may not make one now.
    ///
    /// Each call that was begun must be ended.
    ///
    /// - Parameter now: the time since boot.
    package mutating func begin(uid: UInt32, at now: Duration) -> Bool {
        var user = users[uid, default: User(since: now)]
        let seconds = Int(clamping: max(0, (now - user.since).components.seconds))
        if seconds > 0 {
            user.left = min(Self.burst, user.left + min(seconds, Self.burst) * Self.perSecond)
            user.since = now
        }
        defer { users[uid] = user }
        guard user.left > 0, user.pending < Self.pending else { return false }
        user.left -= 1
        user.pending += 1
        return true
    }

    /// Ends a call, and forgets users that have not called for a minute.
    package mutating func end(uid: UInt32, at now: Duration) {
        users[uid]?.pending -= 1
        users = users.filter { $0.value.pending > 0 || now - $0.value.since < .seconds(60) }
    }
}
