// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Posix

// How a browser is signed in: it begins a login, a device approves it, and the same browser
// confirms it. Nothing that a stranger can observe reveals whether the account exists.
extension Site {
    /// The unit of time that an answer to a sign-in takes.
    ///
    /// It hides the work that the server does only for existing accounts.
    private static let answerTime = Duration.milliseconds(100)

    /// The time at which to answer: the next multiple of `answerTime` after the work began.
    static func due(
        since began: ContinuousClock.Instant, at now: ContinuousClock.Instant = .now
    ) -> ContinuousClock.Instant {
        let steps = (began.duration(to: now) / answerTime).rounded(.up)
        return began.advanced(by: answerTime * Int(max(1, steps)))
    }

    /// `GET /sign-in`: shows the form for the account name, or the home page to a signed-in
    /// browser.
    func showSignIn(_ call: PageCall) async throws(PageFault) -> (String, HTTPResponse) {
        if case .signedIn(let session) = await browsers.state(of: call.cookie),
            try await isGood(session, call: call)
        {
            return ("ok", .seeOther(SitePath.home))
        }
        return ("ok", try signInPage(call))
    }

    /// `POST /sign-in`: begins a login for the named account.
    ///
    /// The form must be this site's own, and the number of sign-ins per address is limited. A login
    /// or session that the browser had is ended. Neither the answer nor its time shows
    /// whether the account exists.
    ///
    /// - Throws: `.foreignForm`, `.slowDown`, and `.notNow` if the server cannot be asked, the
    ///   browser's address is not known, or there is no room.
    func signIn(_ call: PageCall) async throws(PageFault) -> (String, HTTPResponse) {
        let form = try call.ownForm(at: settings.origin)
        let began = ContinuousClock.now
        do throws(TooManyRequests) {
            try limits.admit(call.address)
        } catch { throw .slowDown(seconds: error.seconds) }
        let account = form["account"].trimmingBlanks
        guard Self.isName(account) else {
            return ("malformed", try signInPage(call, refused: form["account"]))
        }
        guard PeerNetwork.isAddress(call.address) else {
            throw .notNow("the proxy's X-Forwarded-For does not end with an address")
        }
        try await takeBack(call)
        await end(call)
        let (server, template, code) = (server, settings.template, try code())
        let login = try await asked { () async throws(CallFault) in
            try await server.beginLogin(
                account: account, template: template, code: code, visitor: call.address,
                agent: call.request.header("user-agent") ?? "")
        }
        let cookie = try Cookie.fresh()
        guard await browsers.begin(login, for: cookie) else {
            throw .notNow("too many browsers are waiting for an approval")
        }
        try? await Task.sleep(until: Self.due(since: began))
        return ("ok", .seeOther(SitePath.waiting, headers: [settings.origin.setting(cookie)]))
    }

    /// `GET /waiting`: shows the text to approve, until the login is approved or expires.
    ///
    /// An approved login is confirmed at once, and the browser signed in.
    func showWaiting(_ call: PageCall) async throws(PageFault) -> (String, HTTPResponse) {
        guard case .waiting(let login) = await browsers.state(of: call.cookie),
            let cookie = call.cookie
        else { return ("elsewhere", .seeOther(SitePath.home)) }
        let server = server
        let isApproved = try await asked { () async throws(CallFault) in
            try await server.isApproved(login)
        }
        // A HEAD request must not confirm the login.
        if isApproved, !call.isHead { return try await confirm(cookie) }
        // A rejection is not shown, because it would reveal that the account exists.
        let now = clock.wallSeconds()
        guard login.expires > now else { return ("over", .over) }
        return ("waiting", try waitingPage(login, call: call, at: now))
    }

    /// `POST /cancel`: cancels the login that the browser awaits.
    func cancel(_ call: PageCall) async throws(PageFault) -> (String, HTTPResponse) {
        _ = try call.ownForm(at: settings.origin)
        // As at a sign-in, less work is done for an unknown account, and the time must not show it.
        let began = ContinuousClock.now
        try await takeBack(call)
        try? await Task.sleep(until: Self.due(since: began))
        return ("ok", .seeOther(SitePath.signIn, headers: [settings.origin.unsetting]))
    }

    /// Cancels the login that the calling browser awaits, if any.
    ///
    /// If the server cannot be asked, the browser continues to wait for it.
    private func takeBack(_ call: PageCall) async throws(PageFault) {
        guard let cookie = call.cookie, let login = await browsers.takeLogin(of: cookie) else {
            return
        }
        do throws(CallFault) {
            try await server.cancel(login)
        } catch {
            await browsers.putBack(login, for: cookie)
            throw .notNow("a login could not be cancelled: \(error)")
        }
    }

    /// Confirms an approved login, and signs in the browser that began it, with a new cookie.
    ///
    /// Because of the new cookie, a cookie that someone planted earlier is worthless. Of several
    /// concurrent requests, one gets the login.
    private func confirm(_ cookie: Cookie) async throws(PageFault) -> (String, HTTPResponse) {
        guard let login = await browsers.takeLogin(of: cookie) else {
            return ("elsewhere", .seeOther(SitePath.home))
        }
        let confirmed: ConfirmedLogin
        do throws(CallFault) {
            confirmed = try await server.confirm(login)
        } catch {
            switch error {
            // A login that cannot be confirmed now never can be, so the browser stops waiting.
            case .refused(_, let code): return (code, .over)
            case .unavailable(let reason):
                await browsers.putBack(login, for: cookie)
                throw .notNow(reason)
            }
        }
        let session = BrowserSession(confirmed, seconds: settings.sessionSeconds, clock: clock)
        let fresh = try Cookie.fresh()
        guard await browsers.signIn(session, for: fresh) else {
            // No one will use them: they must not live until they expire.
            try? await server.revoke(confirmed.tokens)
            throw .notNow("too many browsers are signed in")
        }
        return ("ok", .seeOther(SitePath.home, headers: [settings.origin.setting(fresh)]))
    }

    /// A code for a person to compare: six characters that are not easily confused, 30 random bits.
    private func code() throws(PageFault) -> String {
        let alphabet = [UInt8]("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
        do throws(SystemFault) {
            let letters = try randomBytes(6).map { alphabet[Int($0) % alphabet.count] }
            return String(decoding: letters[..<3] + [0x2d] + letters[3...], as: UTF8.self)
        } catch { throw .notNow("no random bytes are available: \(error)") }
    }

    /// Whether a text is a valid account name: 1 to 128 bytes without control characters.
    static func isName(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension String {
    /// The text without leading and trailing spaces, which on-screen keyboards add.
    fileprivate var trimmingBlanks: String {
        let front = drop { $0 == " " }
        return String(front.reversed().drop { $0 == " " }.reversed())
    }
}
