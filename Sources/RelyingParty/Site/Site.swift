// SPDX-License-Identifier: Apache-2.0
import Crypto
import HTTPServer
import SQL

/// The pages for people in a browser: a back end of one application, inside the server.
///
/// It begins and confirms logins like any back end, by the same code as `/v1/login/init` and
/// `/v1/login/confirm`, with the same checks.
struct Site: Pages {
    let service: Service
    /// The site's address as browsers use it.
    let address: SiteAddress
    /// The name of its application in the database.
    let application: String
    /// The name of the application's template for logins.
    let template: String
    /// Limits how often an address may begin a sign-in.
    let limits: RateLimit
    /// Limits invalid proofs per address, shared with all other calls.
    let proofLimits: RateLimit

    /// Whether a path belongs to the site.
    private static func serves(_ path: String) -> Bool {
        path == "/" || path == SitePath.home || path.hasPrefix(SitePath.home + "/")
    }

    /// Answers a request for one of the pages; nil for a path that does not belong to the site.
    func answer(_ request: HTTPRequest, from origin: Origin) async -> PageAnswer? {
        guard Self.serves(request.path) else { return nil }
        var pattern = "none"
        do throws(Problem) {
            let route = try route(of: request)
            pattern = route.path
            let cookie = try service.core.made { () throws(CryptoFault) in
                try BrowserCookie.of(request, named: address.cookieName)
            }
            let call = SiteCall(request: request, origin: origin, cookie: cookie)
            guard !call.hidesItsCookie else {
                return PageAnswer(
                    pattern: pattern, outcome: "elsewhere", response: .again(route.path))
            }
            let (outcome, response) = try await route.answer(self, call)
            return PageAnswer(pattern: pattern, outcome: outcome, response: response)
        } catch {
            return PageAnswer(
                pattern: pattern, outcome: error.code, response: .problemPage(error))
        }
    }

    private func route(of request: HTTPRequest) throws(Problem) -> SiteRoute {
        let method = request.method == "HEAD" ? "GET" : request.method
        let here = SiteRoutes.all.filter { $0.path == request.path }
        guard !here.isEmpty else { throw .notFound }
        if let route = here.first(where: { $0.method == method }) { return route }
        let others = here.map { $0.method == "GET" ? "GET, HEAD" : $0.method }
        throw Problem(
            status: 405, code: "method-not-allowed", title: "this page is not used in this way",
            headers: ["Allow": others.joined(separator: ", ")])
    }

    /// Reads the application and its template as they are now; throws `.unavailable` and reports
    /// the reason if they do not fit the site.
    func subject() async throws(Problem) -> SiteSubject {
        let (application, template) = (application, self.template)
        let found = try await service.core.read { store throws(DatabaseFault) in
            try store.siteSubject(application: application, template: template)
        }
        do throws(SiteFault) {
            return try found.get()
        } catch {
            report("the site cannot be used: \(error.text)")
            throw .unavailable
        }
    }

    /// Looks up the state of the browser that calls, by its cookie.
    func visitor(_ call: SiteCall) async throws(Problem) -> SiteVisitor {
        guard let cookie = call.cookie else { return .nobody }
        let name = application
        let now = service.core.now
        return try await service.core.read { store throws(DatabaseFault) in
            guard let application = try store.applications.application(name: name) else {
                return .nobody
            }
            if let login = try store.site.siteLogin(cookie.digest, of: application.id) {
                return .waiting(login)
            }
            guard let session = try store.site.siteSession(cookie.digest, at: now),
                let tokens = try store.sessions.tokenSession(session.tokenSession),
                let signer = try store.signers.signer(registration: tokens.registration),
                signer.application.id == application.id, signer.holds(tokens, at: now)
            else { return .nobody }
            return .signedIn(signer, session)
        }
    }
}

/// The state of a browser.
enum SiteVisitor: Sendable {
    /// Neither signed in nor awaiting an approval.
    case nobody
    /// Awaiting the approval of a login.
    case waiting(SiteLogin)
    /// Signed in.
    case signedIn(Signer, SiteSession)
}

/// A request for a page, with the browser's cookie.
struct SiteCall: Sendable {
    let request: HTTPRequest
    let origin: Origin
    /// The browser's cookie, if it sent a valid one.
    let cookie: BrowserCookie?

    /// Whether it is a HEAD request.
    var isHead: Bool { request.method == "HEAD" }

    /// Whether the browser withheld its cookie because the person followed a link on another site.
    /// It must then not be given a new cookie, which would replace the one it may have.
    var hidesItsCookie: Bool {
        request.method != "POST" && cookie == nil
            && ["cross-site", "same-site"].contains(request.header("sec-fetch-site"))
    }

    /// Reads the request's form after checking that this site showed it to this browser.
    ///
    /// Three independent checks, each sufficient by itself: the SameSite cookie is not sent with
    /// another site's form, `Origin` and `Sec-Fetch-Site` name the sender, and the form carries the
    /// token.
    ///
    /// - Throws: `.foreignForm` if a check fails.
    func ownForm(at address: SiteAddress, _ service: Service) throws(Problem) -> SiteForm {
        guard request.header("origin") == address.origin,
            ["same-origin", nil].contains(request.header("sec-fetch-site")), let cookie
        else { throw .foreignForm }
        let form = try SiteForm(request)
        let isShown = try service.core.made { () throws(CryptoFault) in
            try cookie.isShown(in: form["token"])
        }
        guard isShown else { throw .foreignForm }
        return form
    }

    /// Makes a call to the API for back ends, on behalf of the site's application.
    func asBackEnd(
        _ body: some Encodable = EmptyBody(), parameters: [String] = [],
        of application: ApplicationRecord
    ) -> Call {
        Call(
            content: JSON.encode(body),
            parameters: parameters, application: application, apiKey: [], device: nil,
            origin: origin)
    }
}

/// `{}`
struct EmptyBody: Encodable {}
