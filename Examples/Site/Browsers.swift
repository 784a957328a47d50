// SPDX-License-Identifier: Apache-2.0
import Posix

/// The browsers that await an approval or are signed in, by the digest of their cookie.
///
/// They are stored only in memory, so a restart signs every browser out. Each step of a sign-in has
/// a new cookie, and an earlier cookie is worthless.
actor Browsers {
    /// The maximum number of browsers that await an approval, and likewise of those signed in.
    ///
    /// Beyond it, new ones are asked to come back later, so a flood takes no memory and ends no
    /// session.
    private static let most = 10_000
    /// How long a login is kept after it has expired, in seconds.
    ///
    /// An approval in the last second can be confirmed for another minute.
    private static let grace: Int64 = 60

    private let clock: Clock
    private var waiting: [Cookie.Digest: PendingLogin] = [:]
    private var signedIn: [Cookie.Digest: BrowserSession] = [:]

    init(clock: Clock) { self.clock = clock }

    /// The state of the browser that sent this cookie.
    func state(of cookie: Cookie?) -> BrowserState {
        guard let cookie else { return .unknown }
        if let login = waiting[cookie.digest] { return .waiting(login) }
        guard let session = signedIn[cookie.digest] else { return .unknown }
        return .signedIn(session)
    }

    /// Stores a login that awaits its approval; returns false if there is no room.
    func begin(_ login: PendingLogin, for cookie: Cookie) -> Bool {
        removeExpired()
        guard waiting.count < Self.most else { return false }
        waiting[cookie.digest] = login
        return true
    }

    /// Removes and returns the login that a browser awaits.
    ///
    /// Of several concurrent requests, only one gets it; the others get nil.
    func takeLogin(of cookie: Cookie) -> PendingLogin? {
        waiting.removeValue(forKey: cookie.digest)
    }

    /// Restores a login that was removed but could not be dealt with.
    func putBack(_ login: PendingLogin, for cookie: Cookie) {
        waiting[cookie.digest] = login
    }

    /// Stores a session under a new cookie; returns false if there is no room.
    func signIn(_ session: BrowserSession, for cookie: Cookie) -> Bool {
        removeExpired()
        guard signedIn.count < Self.most else { return false }
        signedIn[cookie.digest] = session
        return true
    }

    /// Removes and returns a browser's session.
    ///
    /// Of several concurrent requests, only one gets it; the others get nil.
    @discardableResult
    func signOut(_ cookie: Cookie) -> BrowserSession? {
        signedIn.removeValue(forKey: cookie.digest)
    }

    private func removeExpired() {
        let now = clock.wallSeconds()
        waiting = waiting.filter { $0.value.expires + Self.grace > now }
        signedIn = signedIn.filter { $0.value.ends > now }
    }
}

/// The state of a browser.
enum BrowserState: Sendable {
    /// Neither signed in nor awaiting an approval.
    case unknown
    /// Awaiting the approval of a login.
    case waiting(PendingLogin)
    /// Signed in, unless the server has ended the session in the meantime.
    case signedIn(BrowserSession)
}

/// The session of a browser that is signed in, with the tokens of its login.
///
/// The session ends when its time is over, or when the server no longer accepts the tokens. The
/// tokens stay in this process.
actor BrowserSession {
    let account: String
    let application: String
    /// The registration whose touch approved the login.
    let registration: String
    /// When the session ends at the latest, in seconds since 1970.
    let ends: Int64
    private(set) var tokens: Tokens
    private let clock: Clock
    /// How far the server's clock may be ahead of this one, in seconds.
    private static let leeway: Int64 = 10
    /// When the access token expires, in seconds since 1970.
    private var expires: Int64
    /// A check with the server that is under way.
    private var look: Task<Result<Bool, CallFault>, Never>?

    init(_ login: ConfirmedLogin, seconds: Int64, clock: Clock) {
        account = login.account
        application = login.application
        registration = login.registration
        tokens = login.tokens
        self.clock = clock
        let now = clock.wallSeconds()
        ends = now + seconds
        expires = now + login.tokens.seconds
    }

    /// Whether the server confirms that the person may still be signed in.
    ///
    /// It refreshes an access token that has expired. Concurrent requests share one check, because
    /// a refresh token that is used twice ends the session.
    ///
    /// - Throws: a fault of the call, which says nothing about the session.
    func isGood(at server: SignetServer) async throws(CallFault) -> Bool {
        guard clock.wallSeconds() < ends else { return false }
        if let look { return try await look.value.get() }
        let look = Task { await self.outcome(at: server) }
        self.look = look
        defer { self.look = nil }
        return try await look.value.get()
    }

    private func outcome(at server: SignetServer) async -> Result<Bool, CallFault> {
        do throws(CallFault) {
            if try await server.isActive(tokens) { return .success(true) }
            // Until shortly before it expires, only a revocation or a block makes the token
            // invalid.
            guard clock.wallSeconds() >= expires - Self.leeway else { return .success(false) }
            guard let next = try await server.refresh(tokens) else { return .success(false) }
            tokens = next
            expires = clock.wallSeconds() + next.seconds
            return .success(true)
        } catch { return .failure(error) }
    }
}
