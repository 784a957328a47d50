// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Posix

/// The pages for people in a browser: a back end of one application of signet-server.
///
/// It begins and confirms logins with the application's API key. There is no other way to sign in.
struct Site: Sendable {
    let settings: SiteSettings
    let server: SignetServer
    let clock: Clock
    let browsers: Browsers
    /// Limits how many sign-ins an address may begin, since each one bothers a person.
    let limits: RateLimit

    init(_ settings: SiteSettings, server: SignetServer, clock: Clock) {
        self.settings = settings
        self.server = server
        self.clock = clock
        browsers = Browsers(clock: clock)
        limits = RateLimit(perMinute: settings.rate, clock: clock)
    }

    /// Answers a request, with a page about the fault if it fails; never throws.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        var path = "none"
        do throws(PageFault) {
            let route = try route(of: request)
            path = route.path
            let cookie = try Cookie.of(request, named: settings.origin.cookieName)
            let call = PageCall(request: request, address: address(of: request), cookie: cookie)
            guard !call.hidesItsCookie else {
                return logged(
                    request, path: path, outcome: "elsewhere", response: .again(route.path))
            }
            let (outcome, response) = try await route.answer(self, call)
            return logged(request, path: path, outcome: outcome, response: response)
        } catch {
            if case .notNow(let reason) = error { report(reason) }
            return logged(request, path: path, outcome: error.code, response: error.page)
        }
    }

    /// Answers a request that the HTTP server itself refuses.
    func refuse(_ status: Int, request: HTTPRequest) -> HTTPResponse {
        let fault = PageFault(refusedByServer: status)
        return logged(request, path: "none", outcome: fault.code, response: fault.page)
    }

    /// Calls the server, and turns its faults into `.notNow` with a line for the log.
    ///
    /// A refusal that the caller has not handled is a fault of the configuration.
    func asked<Value: Sendable>(
        _ question: () async throws(CallFault) -> Value
    ) async throws(PageFault) -> Value {
        do throws(CallFault) {
            return try await question()
        } catch {
            switch error {
            case .refused(let status, let code):
                throw .notNow(
                    "the server refuses: \(status) \(code); is the template as documented?")
            case .unavailable(let reason): throw .notNow(reason)
            }
        }
    }

    private func route(of request: HTTPRequest) throws(PageFault) -> Route {
        let method = request.method == "HEAD" ? "GET" : request.method
        let here = Routes.all.filter { $0.path == request.path }
        guard !here.isEmpty else { throw .noSuchPage }
        if let route = here.first(where: { $0.method == method }) { return route }
        throw .otherMethod(here.map { $0.method == "GET" ? "GET, HEAD" : $0.method })
    }

    /// The browser's address, numeric unless a proxy reports something else.
    ///
    /// Behind a trusted proxy, it is the last address of the last `X-Forwarded-For` line: the proxy
    /// wrote that one, while all before it may come from the client.
    private func address(of request: HTTPRequest) -> String {
        guard settings.trustsProxy else { return String(request.peer.prefix { $0 != "%" }) }
        let line = request.headers.last { $0.name == "x-forwarded-for" }?.value ?? ""
        let last = line.split(separator: ",", omittingEmptySubsequences: false).last ?? ""
        return last.filter { $0 != " " && $0 != "\t" }
    }

    /// Writes a line to the log, which contains nothing that a stranger chose.
    private func logged(
        _ request: HTTPRequest, path: String, outcome: String, response: HTTPResponse
    ) -> HTTPResponse {
        let method = ["GET", "HEAD", "POST"].contains(request.method) ? request.method : "other"
        report("method=\(method) path=\(path) status=\(response.status) outcome=\(outcome)")
        return response
    }
}

/// A request for a page, with the browser's address and cookie.
struct PageCall: Sendable {
    let request: HTTPRequest
    /// The browser's numeric address, unless a proxy reports something else.
    let address: String
    /// The browser's cookie, if it sent a valid one.
    let cookie: Cookie?

    /// Whether it is a HEAD request.
    var isHead: Bool { request.method == "HEAD" }

    /// Whether the browser withheld its cookie, because the person followed a link on another site.
    ///
    /// It must then not be given a new cookie, which would replace the one that it may have.
    var hidesItsCookie: Bool {
        request.method != "POST" && cookie == nil
            && ["cross-site", "same-site"].contains(request.header("sec-fetch-site"))
    }

    /// Reads the request's form, after checking that this site showed it to this browser.
    ///
    /// There are three independent checks, each sufficient by itself: a SameSite cookie is not sent
    /// with another site's form, `Origin` and `Sec-Fetch-Site` name the sending site, and the form
    /// contains a token derived from the cookie.
    ///
    /// - Throws: `.foreignForm` if a check fails, and the faults of `Form`.
    func ownForm(at address: SiteAddress) throws(PageFault) -> Form {
        guard request.header("origin") == address.origin,
            ["same-origin", nil].contains(request.header("sec-fetch-site")), let cookie
        else { throw .foreignForm }
        let form = try Form(request)
        guard try cookie.isShown(in: form["token"]) else { throw .foreignForm }
        return form
    }
}
