// SPDX-License-Identifier: Apache-2.0

/// Limits the connections and requests of each user, so that no user can starve the others.
///
/// Users are identified by uid. Connections are limited in total and per user; requests by a token
/// bucket of `burst` tokens that refills by `requestsPerSecond`. Root is exempt from the limits per
/// user, because every user's logins arrive through it.
final class Admission {
    /// The size of a user's token bucket: how many requests may come at once.
    static let burst = 60
    /// How many requests a user gains each second, up to `burst`.
    static let requestsPerSecond = 10

    private struct User {
        var connections = 0
        /// Requests that may still be made, as of `countedAt`.
        var allowance = Admission.burst
        var countedAt = Duration.zero
    }

    private let total: Int
    private let perUser: Int
    private var users: [UInt32: User] = [:]
    private var connections = 0

    /// Sets the limits on connections, in total and for each user.
    init(total: Int, perUser: Int) {
        self.total = total
        self.perUser = perUser
    }

    /// Whether there are no connections.
    var isIdle: Bool { connections == 0 }

    /// Claims a place for a connection; returns false if this user may not have one.
    ///
    /// A quarter of all places is reserved for programs that run as root, such as sudo, su and
    /// login with the PAM module. They count towards the user who started them, if that is known.
    func admit(uid: UInt32, asRoot isRoot: Bool) -> Bool {
        let limit = isRoot ? total : total - total / 4
        guard connections < limit else { return false }
        guard uid == 0 || users[uid, default: User()].connections < perUser else { return false }
        users[uid, default: User()].connections += 1
        connections += 1
        return true
    }

    /// Releases the place of a connection.
    func leave(uid: UInt32) {
        guard let user = users[uid], user.connections > 0 else { return }
        connections -= 1
        users[uid]?.connections -= 1
        if user.connections == 1, user.allowance == Admission.burst { users[uid] = nil }
    }

    /// Takes one request from a user's allowance; returns false if it is used up. Never false for
    /// root.
    func mayRequest(uid: UInt32, at now: Duration) -> Bool {
        if uid == 0 { return true }
        var user = users[uid, default: User()]
        let elapsed = Int((now - user.countedAt).components.seconds)
        if elapsed > 0 {
            let gained = min(elapsed, Admission.burst) * Admission.requestsPerSecond
            user.allowance = min(Admission.burst, user.allowance + gained)
            user.countedAt = now
        }
        guard user.allowance > 0 else { return false }
        user.allowance -= 1
        users[uid] = user
        return true
    }

    /// Forgets users who have no connection and whose allowance must be full again.
    func sweep(at now: Duration) {
        users = users.filter { _, user in
            user.connections > 0 || now - user.countedAt < .seconds(Admission.burst)
        }
    }
}
