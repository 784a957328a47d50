// SPDX-License-Identifier: Apache-2.0
import Posix

/// The browsers that await an approval or are signed in, by the hash of their cookie.
///
/// They are in memory, so a restart signs everyone out. Each cookie is good for one step: whoever
/// has an earlier one has nothing.
actor Browsers {
    /// How many browsers may await an approval, and as many may be signed in. Beyond that, new ones
    /// are told to come later: a flood does not take memory, and ends no session.
    private static let most = 10_000
    /// How long after its end a login is kept: an approval in the last second can be confirmed for
    /// another minute.
    private static let grace: Int64 = 60

    private let clock: Clock
    private var waiting: [Cookie.Digest: PendingLogin] = [:]
    private var signedIn: [Cookie.Digest: BrowserSession] = [:]

    init(clock: Clock) { self.clock = clock }

    /// The state of a browser.
    func state(of cookie: Cookie?) -> BrowserState {
        guard let cookie else { return .unknown }
        if let login = waiting[cookie.digest] { return .waiting(login) }
        guard let session = signedIn[cookie.digest] else { return .unknown }
        return .signedIn(session)
    }

    /// Begins the wait for an approval; returns false if there is no room.
    func begin(_ login: PendingLogin, for cookie: Cookie) -> Bool {
        removeExpired()
        guard waiting.count < Self.most else { return false }
        waiting[cookie.digest] = login
        return true
    }

    /// Ends the wait for an approval; returns the login, to whoever asks first.
    func takeLogin(of cookie: Cookie) -> PendingLogin? {
        waiting.removeValue(forKey: cookie.digest)
    }

    /// Continues a wait that was ended too soon.
    func putBack(_ login: PendingLogin, for cookie: Cookie) {
        waiting[cookie.digest] = login
    }

    /// Signs a browser in; returns false if there is no room.
    func signIn(_ session: BrowserSession, for cookie: Cookie) -> Bool {
        removeExpired()
        guard signedIn.count < Self.most else { return false }
        signedIn[cookie.digest] = session
        return true
    }

    /// Signs a browser out; returns its session, to whoever asks first.
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
    /// Signed in, unless the session has ended meanwhile.
    case signedIn(BrowserSession)
}

/// A browser that is signed in, with the tokens of its login.
actor BrowserSession {
    let account: String
    let application: String
    /// The registration whose touch approved the login.
    let registration: String
    /// When it ends at the latest, in seconds since 1970.
    let ends: Int64
    private(set) var tokens: Tokens
    private let clock: Clock
    /// How far the server's clock may be ahead, in seconds.
    private static let leeway: Int64 = 10
    /// When the access token expires, in seconds since 1970.
    private var expires: Int64
    /// A look at the server that is under way.
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

    /// Whether the server says that the person may still be signed in.
    ///
    /// Requests at the same time share one look: a refresh token that is sent twice ends the
    /// session.
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
            // Well before its time is over, only a revocation or a block makes the token invalid.
            guard clock.wallSeconds() >= expires - Self.leeway else { return .success(false) }
            guard let next = try await server.refresh(tokens) else { return .success(false) }
            tokens = next
            expires = clock.wallSeconds() + next.seconds
            return .success(true)
        } catch { return .failure(error) }
    }
}
