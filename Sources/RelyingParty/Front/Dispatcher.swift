// SPDX-License-Identifier: Apache-2.0
import Crypto
import HTTPServer
import SQL
import SignedFormats

/// Routes each HTTP request to its handler, and turns every failure into a problem document.
///
/// Before the handler runs, the dispatcher applies the route's limit to the caller's network (see
/// `CallLimit`), authenticates the caller as the route requires, and, for POST, checks the body's size and content type.
/// Each answered request is reported to `observer`. Problem documents are those of RFC 9457.
package struct Dispatcher: Sendable {
    private let service: Service
    private let routes: [Route]
    /// The routes without path parameters, by path; most calls match one of them.
    private let fixed: [String: [Route]]
    private let limits: CallLimits
    private let publicPath: PublicPath
    let trustsProxy: Bool
    let numbers = RequestNumbers()
    let observer: Observer

    /// Creates a dispatcher; `observer` receives each request after it was answered.
    init(
        service: Service, routes: [Route] = Routes.all, limits: CallLimits, trustsProxy: Bool,
        publicPath: PublicPath = .none,
        observer: @escaping Observer = { _ in }
    ) {
        self.service = service
        self.routes = routes
        fixed = Dictionary(grouping: routes.filter { !$0.isOpen }, by: \.pattern)
        self.limits = limits
        self.publicPath = publicPath
        self.trustsProxy = trustsProxy
        self.observer = observer
    }

    /// Answers one request, with a problem document if it fails; never throws.
    package func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let began = ContinuousClock.now
        let callers = service.database.figures.callers
        callers.enter()
        defer { callers.leave() }
        let origin = origin(of: request)
        var pattern = "none"
        var outcome = "ok"
        var response: HTTPResponse
        do throws(Problem) {
            let request = try publicPath.unproxied(request)
            let (route, parameters) = try route(of: request)
            pattern = route.pattern
            let answer = try await serve(
                request, route: route, parameters: parameters, from: origin)
            response = answer.response
            outcome = answer.outcome
        } catch {
            outcome = error.code
            response = error.response
        }
        let id = numbers.next()
        response.headers.append(("X-Request-Id", id))
        observer(
            AccessLogEntry(
                id: id, method: Self.methods.contains(request.method) ? request.method : "other",
                route: pattern, status: response.status, outcome: outcome,
                nanoseconds: began.nanosecondsUntilNow, peer: origin.address))
        return response
    }

    static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

    private func serve(
        _ request: HTTPRequest, route: Route, parameters: [String], from origin: Origin
    ) async throws(Problem) -> CallResult {
        guard let limit = route.limit else {
            return try await admitted(request, route: route, parameters: parameters, from: origin)
        }
        let admission = try await admit(request, limit, parameters: parameters, from: origin)
        guard case .refusals = limit.counting else {
            return try await admitted(request, route: route, parameters: parameters, from: origin)
        }
        // Given back if the proof is valid, and also if it was not judged. It is not given back for
        // 401, 403 and 409: a valid proof that is refused, by policy or as a repeated decision,
        // costs as much as an invalid one.
        do throws(Problem) {
            let answer = try await admitted(
                request, route: route, parameters: parameters, from: origin)
            if answer.wasOfUse { limits.giveBack(admission) }
            return answer
        } catch {
            if ![401, 403, 409].contains(error.status) { limits.giveBack(admission) }
            throw error
        }
    }

    /// Admits a call by the limit of its network or, if that is used up, by what the call proves.
    private func admit(
        _ request: HTTPRequest, _ limit: CallLimit, parameters: [String], from origin: Origin
    ) async throws(Problem) -> CallLimits.Admission {
        let wait: TooManyRequests
        do throws(TooManyRequests) {
            return try limits.admit(limit.kind, from: origin.address)
        } catch { wait = error }
        let call = Call(
            content: request.body, parameters: parameters, application: nil, device: nil,
            origin: origin)
        let item: LimitedItem?
        do throws(Problem) {
            item = try await limit.item(service, call, request)
        } catch {
            // A body that cannot be read proves nothing.
            guard error.status < 500 else { throw error }
            item = nil
        }
        guard let item else { throw .slowDown(seconds: wait.seconds) }
        do throws(TooManyRequests) {
            return try limits.admit(item)
        } catch { throw .slowDown(seconds: error.seconds) }
    }

    private func admitted(
        _ request: HTTPRequest, route: Route, parameters: [String], from origin: Origin
    ) async throws(Problem) -> CallResult {
        if route.method == "POST" { try requireJSON(request) }
        var application: AskingApplication?
        var device: AuthenticatedDevice?
        switch route.caller {
        case .anybody: break
        case .application(let scope, let other):
            application = try await service.apiKeys.admit(
                apiKey(of: request), to: RequiredScopes(scope, or: other), for: route.call,
                from: origin)
        case .rememberedApplication(let scope):
            application = try await service.apiKeys.admit(
                apiKey(of: request), to: RequiredScopes(scope), isRemembered: true,
                for: route.call, from: origin)
        case .device: device = try await sender(of: request, from: origin, isLeaving: false)
        case .leavingDevice:
            device = try await sender(of: request, from: origin, isLeaving: true)
        }
        let call = Call(
            content: request.body, parameters: parameters, application: application,
            device: device, origin: application.map { origin.with(apiKey: $0.name) } ?? origin)
        do throws(Problem) {
            return try await route.answer(service, call)
        } catch {
            // The key was revoked in the meantime, or does not reach the object.
            if let application, error.isAboutAPIKey {
                try await service.apiKeys.note(
                    error, by: application, for: route.call, from: origin)
            }
            throw error
        }
    }

    /// Authenticates the device that sent a request, by the request's `Authorization` header.
    private func sender(
        of request: HTTPRequest, from origin: Origin, isLeaving: Bool
    ) async throws(Problem) -> AuthenticatedDevice {
        guard let header = request.header("authorization") else { throw .unauthenticated }
        return try await service.requests.device(
            of: try request.received(by: service), authorization: [UInt8](header.utf8),
            from: origin, isLeaving: isLeaving)
    }

    /// The pattern of the call that a request is meant for; nil if there is none.
    func pattern(of request: HTTPRequest) -> String? {
        try? route(of: publicPath.unproxied(request)).0.pattern
    }

    private func route(of request: HTTPRequest) throws(Problem) -> (Route, [String]) {
        let method = request.method == "HEAD" ? "GET" : request.method
        if let route = fixed[request.path]?.first(where: { $0.method == method }) {
            return (route, [])
        }
        guard let parts = Path.parts(of: request.path) else { throw .notFound }
        var others: [String] = []
        for route in routes {
            guard let parameters = route.parameters(of: parts) else { continue }
            if route.method == method { return (route, parameters) }
            others.append(route.method)
        }
        guard !others.isEmpty else { throw .notFound }
        throw Problem(
            status: 405, code: "method-not-allowed", title: "this path has other methods",
            headers: ["Allow": others.joined(separator: ", ")])
    }

    private func requireJSON(_ request: HTTPRequest) throws(Problem) {
        guard request.body.count <= Routes.bodyLimit else { throw .tooLarge }
        let type = request.header("content-type") ?? ""
        let essence = type.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
        guard isSame(essence, word: "application/json") else { throw .notJSON }
    }

    private func apiKey(of request: HTTPRequest) throws(Problem) -> [UInt8] {
        guard let header = request.header("authorization"),
            header.utf8.count <= 256, isSame(header.utf8.prefix(7), word: "bearer ")
        else { throw .apiKeyRefused }
        let key = [UInt8](header.utf8.dropFirst(7))
        guard let hash = try? BearerSecret.apiKey.digest(of: key) else { throw .apiKeyRefused }
        return hash
    }

    /// The address and user agent that a request is attributed to.
    ///
    /// Behind a trusted proxy, the address is the last one of the last `X-Forwarded-For` line: the
    /// proxy wrote that one, while all before it may come from the client.
    func origin(of request: HTTPRequest) -> Origin {
        let agent = request.header("user-agent") ?? ""
        guard trustsProxy,
            let line = request.headers.last(where: { $0.name == "x-forwarded-for" })
        else { return Origin(address: request.peer, agent: agent) }
        let last = line.value.split(separator: ",", omittingEmptySubsequences: false).last ?? ""
        return Origin(address: last.filter { $0 != " " && $0 != "\t" }, agent: agent)
    }
}

extension HTTPRequest {
    /// What a request code must name to be one of this request.
    func received(by service: Service) throws(Problem) -> ReceivedRequest {
        let digest = try service.core.made { () throws(CryptoFault) in try SHA256.digest(body) }
        return ReceivedRequest(
            method: [UInt8](method.utf8), resource: [UInt8](target.utf8), body: digest)
    }
}

/// Compares ASCII without regard to case; `word` must be in lower case.
private func isSame(_ bytes: some Collection<UInt8>, word: StaticString) -> Bool {
    guard bytes.count == word.utf8CodeUnitCount else { return false }
    return word.withUTF8Buffer { word in
        unsafe zip(bytes, word).allSatisfy { byte, wanted in
            (UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte) == wanted
        }
    }
}

extension ContinuousClock.Instant {
    fileprivate var nanosecondsUntilNow: Int64 {
        let (seconds, attoseconds) = duration(to: .now).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
