// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database
import HTTP
import Posix
import SignedFormats

// How a browser is signed in: a login begins, a device approves it, and the browser that began it
// confirms it. Nothing that a stranger sees on the way depends on whether there is such an account.
extension Site {
    /// How long a browser stays signed in, in seconds.
    private static let sessionSeconds: Int64 = 1_800
    /// An answer to a sign-in takes so long, or a multiple of it: what the database does for an
    /// account, and not for a name that is none, shall not be seen. The commits are as many.
    private static let answerTime = Duration.milliseconds(100)

    /// How many sign-ins an address may begin a minute, of what `listen.rate` allows.
    static func signInRate(_ rate: Int) -> Int { max(1, rate / 4) }

    /// The end of the step of `answerTime` in which work that began then has ended.
    static func due(
        since began: ContinuousClock.Instant, at now: ContinuousClock.Instant = .now
    ) -> ContinuousClock.Instant {
        let steps = (began.duration(to: now) / answerTime).rounded(.up)
        return began.advanced(by: answerTime * Int(max(1, steps)))
    }

    /// `GET /site/sign-in`
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

    /// `GET /site/waiting`: until the login is approved or its time is over.
    func showWaiting(_ call: SiteCall) async throws(Problem) -> (String, HTTPResponse) {
        guard case .waiting(let login) = try await visitor(call), let cookie = call.cookie else {
            return ("elsewhere", .seeOther(SitePath.home))
        }
        let operation = try await service.core.read { store throws(DatabaseFault) in
            try store.operations.operation(login.operation)
        }
        let now = service.core.now
        // Who only looks confirms nothing.
        if operation?.status(at: now) == .approved, !call.isHead {
            return try await confirm(login, cookie, call)
        }
        // That a device has rejected it is not told: it would tell that there is such an account.
        guard login.expires > now else { return ("over", .over) }
        return ("waiting", try waitingPage(login, call, at: now))
    }

    /// `POST /site/cancel`: takes back the login that waits.
    func cancel(_ call: SiteCall) async throws(Problem) -> (String, HTTPResponse) {
        _ = try call.ownForm(at: address, service)
        // As a sign-in: there may be no login behind what waits, and then there is less to do.
        let began = ContinuousClock.now
        if case .waiting(let login) = try await visitor(call) { try await takeBack(login, call) }
        await wait(until: Self.due(since: began))
        return ("ok", .seeOther(SitePath.signIn, [address.unsetting]))
    }

    /// Waits: time itself is the event. Nobody's commit waits for who does.
    private func wait(until moment: ContinuousClock.Instant) async {
        service.database.figures.callers.leave()
        try? await Task.sleep(until: moment)
        service.database.figures.callers.enter()
    }

    /// Ends what the browser waits for, or is signed in by: it has one cookie, and another soon.
    private func endFormer(_ call: SiteCall) async throws(Problem) {
        switch try await visitor(call) {
        case .nobody: break
        case .waiting(let login): try await takeBack(login, call)
        case .signedIn(let signer, let session): try await end(session, of: signer, call)
        }
    }

    /// Takes back a login that waits; where there is none behind it, nothing but what waits.
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

    /// Begins the login, or what looks just like one where there can be none.
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

    /// No such account, a blocked one, or one that too many logins await: the browser waits as for
    /// any other, and nobody can approve. The audit trail has why, of an account already.
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

    /// Makes an approved login a session of the browser that began it, with a cookie that nobody
    /// could know before.
    private func confirm(
        _ login: SiteLogin, _ cookie: BrowserCookie, _ call: SiteCall
    ) async throws(Problem) -> (String, HTTPResponse) {
        let subject = try await subject()
        // Each refusal leaves a line in the audit trail: so an address has so many, also at once.
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
            // What cannot be confirmed now never can: nothing is waited for any more.
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

    /// The session that the access token is of. The tokens themselves are not kept: no browser
    /// needs them here.
    private func tokenSession(of answer: LoginAnswer) throws(Problem) -> [UInt8] {
        let token = [UInt8](answer.tokens.accessToken.utf8)
        guard let payload = try? JSONWebToken.verify(token, keys: service.keys.verifying),
            let id = ID(text: try JSON.decode(AccessClaims.self, from: payload).sid)
        else { throw .unavailable }
        return id.bytes
    }

    /// Six characters that are not taken for each other, 30 random bits: what a person compares.
    private func code() throws(Problem) -> String {
        let alphabet = [UInt8]("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
        let letters = try service.core.random(6).map { alphabet[Int($0) % alphabet.count] }
        return String(decoding: letters[..<3] + [0x2d] + letters[3...], as: UTF8.self)
    }
}

/// What the site sends for a login.
private struct LoginWishBody: Encodable {
    let account: Name
    let template: String
    let data: [String: String]
    let additional: AdditionalData
}

/// What the site sends to confirm one.
private struct ConfirmBody: Encodable {
    let operation: ID
    let session: String
}

extension String {
    /// Without the blanks around it, which keyboards add.
    fileprivate var trimmingBlanks: String {
        let front = drop { $0 == " " }
        return String(front.reversed().drop { $0 == " " }.reversed())
    }
}
