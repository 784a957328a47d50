// SPDX-License-Identifier: Apache-2.0

/// Limits the connections and requests of each user, so that no user can starve the others.
///
/// Users are told apart by uid; the connections of a program that runs as root count towards the
/// user who started it, if known (`ClientProcess.accountable`). Connections are limited in total
/// and per user, and requests by a token bucket of `burst` tokens that gains `requestsPerSecond`.
/// Another bucket limits how often a user may connect, because each new client is examined: without
/// it, a few programs that connect and hang up would delay every prompt of the others by a second.
/// Root itself is exempt from the limits per user, because the logins of all users arrive through
/// it; `Router` exempts all programs that run as root from the limit on requests.
///
/// The callers answer with `tooManyRequests` when a limit is reached.
final class Admission {
    /// The size of a user's token bucket: how many requests may be made at once.
    static let burst = 60
    /// How many requests a user gains each second, up to `burst`.
    static let requestsPerSecond = 10

    /// How often a user may connect at once, and how often more each second.
    static let connectionBurst = 240
    static let connectionsPerSecond = 40

    private struct User {
        var connections = 0
        /// The requests that the user could still make at `countedAt`.
        var allowance = Admission.burst
        var countedAt = Duration.zero
        /// How often the user could still connect at `connectedAt`.
        var arrivals = Admission.connectionBurst
        var connectedAt = Duration.zero
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

    /// Claims a place for a connection; returns false if this user may not have one now.
    ///
    /// A quarter of all places is reserved for programs that run as root, such as sudo, su and
    /// login with the PAM module, so that ordinary users cannot prevent logins by connecting. Each
    /// successful call must be followed by one call of `leave` with the same uid.
    ///
    /// - Parameters:
    ///   - uid: the user whose share the connection takes up.
    ///   - isRoot: whether the client runs as root, whichever user started it.
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
        if user.connections == 1, user.allowance == Admission.burst,
            user.arrivals == Admission.connectionBurst
        {
            users[uid] = nil
        }
    }

    /// Counts a connection of a user before its process is examined; returns false if the user has
    /// connected too often.
    ///
    /// Root is always allowed.
    ///
    /// - Parameters:
    ///   - uid: the uid that the socket reports.
    ///   - now: the time since boot.
    func mayConnect(uid: UInt32, at now: Duration) -> Bool {
        if uid == 0 { return true }
        var user = users[uid, default: User()]
        let elapsed = Int((now - user.connectedAt).components.seconds)
        if elapsed > 0 {
            let gained =
                min(elapsed, Admission.connectionBurst) * Admission.connectionsPerSecond
            user.arrivals = min(Admission.connectionBurst, user.arrivals + gained)
            user.connectedAt = now
        }
        guard user.arrivals > 0 else { return false }
        user.arrivals -= 1
        users[uid] = user
        return true
    }

    /// Takes one request from a user's allowance; returns false if the allowance is used up.
    ///
    /// Root is always allowed. The allowance grows in whole seconds.
    ///
    /// - Parameter now: the time since boot.
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
    ///
    /// This bounds the memory for users who only come and go.
    func sweep(at now: Duration) {
        users = users.filter { _, user in
            user.connections > 0 || now - user.countedAt < .seconds(Admission.burst)
                || now - user.connectedAt < .seconds(Admission.burst)
        }
    }
}
