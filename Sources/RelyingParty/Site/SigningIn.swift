// SPDX-License-Identifier: Apache-2.0
import Crypto
import HTTPServer
import Posix
import SQL
import SignedFormats

// How a browser is signed in: it begins a login, a device approves it, and the same browser
// confirms it. Nothing that a stranger can observe on the way reveals whether the account exists.
extension Site {
    /// How long a browser stays signed in, in seconds.
    private static let sessionSeconds: Int64 = 1_800
    /// Answers to a sign-in take a multiple of this time, which hides what the database does only
    /// for existing accounts. The number of commits is the same for both.
    private static let answerTime = Duration.milliseconds(100)

    /// How many sign-ins an address may begin per minute: a quarter of `listen.rate`.
    static func signInRate(_ rate: Int) -> Int { max(1, rate / 4) }

    /// The next multiple of `answerTime` after the beginning of the work.
    static func due(
        since began: ContinuousClock.Instant, at now: ContinuousClock.Instant = .now
    ) -> ContinuousClock.Instant {
        let steps = (began.duration(to: now) / answerTime).rounded(.up)
        return began.advanced(by: answerTime * Int(max(1, steps)))
    }

    /// `GET /site/sign-in`: shows the form for the account name.
    func showSignIn(_ call: SiteCall) async throws(Problem) -> (String, HTTPResponse) {
        if case .signedIn = try await visitor(call) { return ("ok", .seeOther(SitePath.home)) }
        return ("ok", try signInPage(call))
    }

    /// `POST /site/sign-in`: begins a login for the named account.
    func signIn(_ call: SiteCall) async throws(Problem) -> (String, HTTPResponse) {
        let form = try call.ownForm(at: address, service)
        let began = ContinuousClock.now
        try limits.admit(call.origin.address)
        let account = form["account"].trimmingBlanks
        guard let name = Name(account) else {
            return ("malformed", try signInPage(call, refused: form["account"]))
        }
        let subject = try await subject()
        try await endFormer(call)
        let (login, cookie) = try await begin(name, subject, call)
        let now = service.core.now
        try await service.core.write { store throws(DatabaseFault) -> Result<Void, Problem> in
            guard try store.applications.hold(application: subject.application.id) else {
                return .failure(.notFound)
            }
            try store.site.keep(siteLogin: login, of: subject.application.id, at: now)
            return .success(())
        }
        await wait(until: Self.due(since: began))
        return ("ok", .seeOther(SitePath.waiting, [address.setting(cookie)]))
    }

    /// `GET /site/waiting`: shows the text to approve, until the login is approved or expires.
    func showWaiting(_ call: SiteCall) async throws(Problem) -> (String, HTTPResponse) {
        guard case .waiting(let login) = try await visitor(call), let cookie = call.cookie else {
            return ("elsewhere", .seeOther(SitePath.home))
        }
        let operation = try await service.core.read { store throws(DatabaseFault) in
            try store.operations.operation(login.operation)
        }
        let now = service.core.now
        // A HEAD request must not confirm the login.
        if operation?.status(at: now) == .approved, !call.isHead {
            return try await confirm(login, cookie, call)
        }
        // A rejection is not shown, because it would reveal that the account exists.
        guard login.expires > now else { return ("over", .over) }
        return ("waiting", try waitingPage(login, call, at: now))
    }

    /// `POST /site/cancel`: cancels the pending login.
    func cancel(_ call: SiteCall) async throws(Problem) -> (String, HTTPResponse) {
        _ = try call.ownForm(at: address, service)
        // As for a sign-in: less is done for an unknown account, and the time must not show it.
        let began = ContinuousClock.now
        if case .waiting(let login) = try await visitor(call) { try await takeBack(login, call) }
        await wait(until: Self.due(since: began))
        return ("ok", .seeOther(SitePath.signIn, [address.unsetting]))
    }

    /// Sleeps until a time; leaves `Callers` meanwhile, so that no commit waits for this call.
    private func wait(until moment: ContinuousClock.Instant) async {
        service.database.figures.callers.leave()
        try? await Task.sleep(until: moment)
        service.database.figures.callers.enter()
    }

    /// Ends the browser's pending login or session before its cookie is replaced.
    private func endFormer(_ call: SiteCall) async throws(Problem) {
        switch try await visitor(call) {
        case .nobody: break
        case .waiting(let login): try await takeBack(login, call)
        case .signedIn(let signer, let session): try await end(session, of: signer, call)
        }
    }

    /// Cancels a pending login; for an unknown account there is only the stored sign-in.
    private func takeBack(_ login: SiteLogin, _ call: SiteCall) async throws(Problem) {
        let application = application
        let now = service.core.now
        try await service.core.write { store throws(DatabaseFault) in
            if try store.operations.end(operation: login.operation, as: .canceled, by: nil, at: now)
            {
                let operation = try store.operations.operation(login.operation)
                var entry = AuditEntry(
                    event: .operationCancelled, outcome: "ok", application: application)
                if let operation, let account = try store.accounts.account(operation.account) {
                    entry.account = account.name
                }
                entry.detail = OperationTrail(operation: ID(login.operation)).text
                try store.auditTrail.note(entry, from: call.origin, at: now)
            }
            try store.site.endSiteLogin(login.hash)
            return .success(())
        }
    }

    /// Begins the login, or a pretended one if the account cannot log in.
    private func begin(
        _ account: Name, _ subject: SiteSubject, _ call: SiteCall
    ) async throws(Problem) -> (SiteLogin, BrowserCookie) {
        let all = [SiteSubject.code: try code(), SiteSubject.address: call.origin.address]
        let values = all.filter { subject.text.placeholders.contains($0.key) }
        let wish = LoginWishBody(
            account: account, template: subject.template.name, data: values,
            additional: AdditionalData(address: call.origin.address, agent: call.origin.agent))
        do throws(Problem) {
            let begun = try await service.logins.beginLogin(
                call.asBackEnd(wish, of: subject.application),
                network: PeerNetwork(call.origin.address).bytes)
            let cookie = try service.core.made { () throws(CryptoFault) in
                try BrowserCookie.waiting(begun.session)
            }
            guard let cookie else { throw .unavailable }
            return (
                SiteLogin(
                    hash: cookie.digest, operation: begun.operation.bytes, text: begun.data,
                    expires: begun.expires), cookie
            )
        } catch {
            guard error.status == 404 || error.status == 409 else { throw error }
            return try await pretend(account, subject, values, error, call)
        }
    }

    /// Pretends to begin a login for an account that is unknown, blocked, or has too many pending.
    ///
    /// The browser waits as usual, but no device can approve. For an existing account
    /// `keepOperation` has already recorded the reason in the audit trail; for an unknown one it is
    /// recorded here.
    private func pretend(
        _ account: Name, _ subject: SiteSubject, _ values: [String: String], _ problem: Problem,
        _ call: SiteCall
    ) async throws(Problem) -> (SiteLogin, BrowserCookie) {
        let made = try service.core.made { () throws(CryptoFault) in
            try BearerSecret.session.generate()
        }
        let now = service.core.now
        let login = SiteLogin(
            hash: made.digest, operation: try service.core.random(16),
            text: try subject.text.filled(with: values), expires: now + subject.template.seconds)
        let entry = AuditEntry(
            event: .operationCreated, outcome: problem.code,
            application: subject.application.name,
            account: printable([UInt8](account.text.utf8)))
        if problem.status == 404 {
            try await service.core.write { store throws(DatabaseFault) in
                try store.auditTrail.note(entry, from: call.origin, at: now)
                return .success(())
            }
        }
        let cookie = BrowserCookie(
            text: String(decoding: made.text, as: UTF8.self), digest: made.digest)
        return (login, cookie)
    }

    /// Confirms an approved login, and signs in the browser that began it, with a new cookie, so
    /// that a cookie planted before is worthless.
    private func confirm(
        _ login: SiteLogin, _ cookie: BrowserCookie, _ call: SiteCall
    ) async throws(Problem) -> (String, HTTPResponse) {
        let subject = try await subject()
        // Each refusal leaves an audit line, so their number per address is limited.
        let admission = try proofLimits.admit(call.origin.address)
        let answer: LoginAnswer
        do throws(Problem) {
            answer = try await service.logins.confirmLogin(
                call.asBackEnd(
                    ConfirmBody(operation: ID(login.operation), session: cookie.text),
                    of: subject.application))
            proofLimits.giveBack(admission)
        } catch {
            guard error.status != 503 else {
                proofLimits.giveBack(admission)
                throw error
            }
            // A login that cannot be confirmed now never can be, so the browser stops waiting.
            try await service.core.write { store throws(DatabaseFault) -> Result<Void, Problem> in
                try store.site.endSiteLogin(login.hash)
                return .success(())
            }
            return (error.code, .over)
        }
        let session = try tokenSession(of: answer)
        let fresh = try service.core.made { () throws(CryptoFault) in try BrowserCookie.fresh() }
        let now = service.core.now
        try await service.core.write { store throws(DatabaseFault) in
            try store.site.endSiteLogin(login.hash)
            try store.site.keepSiteSession(
                fresh.digest, tokenSession: session, at: now, until: now + Self.sessionSeconds)
            return .success(())
        }
        return ("ok", .seeOther(SitePath.home, [address.setting(fresh)]))
    }

    /// The id of the token session in a login's access token. The tokens themselves are discarded:
    /// the browser does not need them.
    private func tokenSession(of answer: LoginAnswer) throws(Problem) -> [UInt8] {
        let token = [UInt8](answer.tokens.accessToken.utf8)
        guard let payload = try? JSONWebToken.verify(token, keys: service.keys.verifying),
            let id = ID(text: try JSON.decode(AccessClaims.self, from: payload).sid)
        else { throw .unavailable }
        return id.bytes
    }

    /// Six characters that are not easily confused, 30 random bits, for a person to compare.
    private func code() throws(Problem) -> String {
        let alphabet = [UInt8]("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
        let letters = try service.core.random(6).map { alphabet[Int($0) % alphabet.count] }
        return String(decoding: letters[..<3] + [0x2d] + letters[3...], as: UTF8.self)
    }
}

/// The body of the site's call to begin a login.
private struct LoginWishBody: Encodable {
    let account: Name
    let template: String
    let data: [String: String]
    let additional: AdditionalData
}

/// The body of the site's call to confirm a login.
private struct ConfirmBody: Encodable {
    let operation: ID
    let session: String
}

extension String {
    /// The text without the surrounding spaces that keyboards add.
    fileprivate var trimmingBlanks: String {
        let front = drop { $0 == " " }
        return String(front.reversed().drop { $0 == " " }.reversed())
    }
}
