// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database
import HTTP

/// Pages for a person in a browser: the back end of one application, within the server.
///
/// It begins and confirms logins as any back end does, by the calls `/v1/login/init` and
/// `/v1/login/confirm` of its application: with their checks, and no other way in.
struct Site: Pages {
    let service: Service
    /// How browsers call it.
    let address: SiteAddress
    /// The application's name.
    let application: String
    /// The name of its template for logins.
    let template: String
    /// How often somebody may be asked to approve a sign-in.
    let limits: RateLimit
    /// How often what an address sends may not hold, as with all other calls.
    let proofLimits: RateLimit

    /// Whether a path is the site's, where there is a site.
    private static func serves(_ path: String) -> Bool {
        path == "/" || path == SitePath.home || path.hasPrefix(SitePath.home + "/")
    }

    /// Answers a request for one of its pages; nil for a path that is not the site's.
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

    /// The application and its template as they are now.
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

    /// Whose browser it is.
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

/// Whose browser it is.
enum SiteVisitor: Sendable {
    /// Nobody's that is known.
    case nobody
    /// Somebody's that waits for an approval.
    case waiting(SiteLogin)
    /// A person's who is signed in.
    case signedIn(Signer, SiteSession)
}

/// A request for a page.
struct SiteCall: Sendable {
    let request: HTTPRequest
    let origin: Origin
    /// The browser's cookie, if it has one.
    let cookie: BrowserCookie?

    /// Whether it only looks.
    var isHead: Bool { request.method == "HEAD" }

    /// Whether somebody followed another site's link: then the browser shows no cookie, and is not to
    /// be given one in place of what it may have.
    var hidesItsCookie: Bool {
        request.method != "POST" && cookie == nil
            && ["cross-site", "same-site"].contains(request.header("sec-fetch-site"))
    }

    /// The form that it carries: of this site's own page, which this very browser was shown.
    ///
    /// Three checks, each of which would do: the cookie is not sent with a form of another site,
    /// browsers say where a form comes from, and the form names what only its page could know.
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

    /// A call of the interface for back ends, as the application makes it.
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
