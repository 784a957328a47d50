// SPDX-License-Identifier: Apache-2.0

/// Keeps any one user from taking what the others need: connections, and requests a second.
final class Admission {
    /// Requests that a user may make at once; then `requestsPerSecond` more each second.
    static let burst = 60
    /// See `burst`.
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

    /// Limits on connections, of all together and of each user.
    init(total: Int, perUser: Int) {
        self.total = total
        self.perUser = perUser
    }

    /// Whether nobody is connected.
    var isIdle: Bool { connections == 0 }

    /// Takes a place for a connection; false if there is none for this user.
    ///
    /// A quarter of the places is kept for programs with root's rights: the PAM module of sudo, su and
    /// login. They count for the user who started them, where that is known.
    func admit(uid: UInt32, asRoot isRoot: Bool) -> Bool {
        let limit = isRoot ? total : total - total / 4
        guard connections < limit else { return false }
        guard uid == 0 || users[uid, default: User()].connections < perUser else { return false }
        users[uid, default: User()].connections += 1
        connections += 1
        return true
    }

    /// Gives a connection's place back.
    func leave(uid: UInt32) {
        guard let user = users[uid], user.connections > 0 else { return }
        connections -= 1
        users[uid]?.connections -= 1
        if user.connections == 1, user.allowance == Admission.burst { users[uid] = nil }
    }

    /// Takes one request from a user's allowance; false if it is used up. Root has no such limit,
    /// since everybody's logins come through it.
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

    /// Forgets users who are not connected and have their whole allowance again.
    func sweep(at now: Duration) {
        users = users.filter { _, user in
            user.connections > 0 || now - user.countedAt < .seconds(Admission.burst)
        }
    }
}
