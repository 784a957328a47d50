// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import SQL

/// The separate address and port at which figures are served.
struct MetricsAddress: Equatable {
    let address: String
    let port: UInt16

    /// Parses `127.0.0.1:9464` or `[::1]:9464`; nil for `none`.
    ///
    /// - Throws: `.metricsPlace` for anything else.
    init?(_ text: String) throws(StartFault) {
        guard text != "none" else { return nil }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { throw .metricsPlace(text) }
        var address = text[..<colon]
        if address.hasPrefix("["), address.hasSuffix("]") {
            address = address.dropFirst().dropLast()
        } else if address.contains(":") {
            throw .metricsPlace(text)
        }
        self.address = String(address)
        self.port = port
    }
}

/// The pages at `metrics.listen`: figures for Prometheus, and health checks.
struct MetricsPages: Sendable {
    let figures: ServerFigures
    let health: Health
    let database: DatabaseFigures
    let refusals: AuditQuota
    let callbacks: Callbacks
    let connections: @Sendable () -> ConnectionFigures

    /// Answers one request; 404 for other paths, 405 for methods other than GET and HEAD.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            return HTTPResponse(status: 405, headers: [("Allow", "GET")])
        }
        switch request.path {
        case "/metrics":
            let text =
                figures.text(
                    connections: connections(), unwritten: refusals.count, database: database)
                + callbacks.figures.text(backlog: await callbacks.backlog())
            return HTTPResponse(
                status: 200, headers: [("Content-Type", "text/plain; version=0.0.4")],
                body: [UInt8](text.utf8))
        case "/health/live": return .plain("live")
        case "/health/ready": return await health.isReady() ? .plain("ready") : .notReady
        default: return HTTPResponse(status: 404)
        }
    }
}

extension HTTPResponse {
    /// A plain text response of one word.
    static func plain(_ word: String) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [("Content-Type", "text/plain"), ("Cache-Control", "no-store")],
            body: [UInt8]("\(word)\n".utf8))
    }

    /// 503: the database does not answer.
    static let notReady = Problem.unavailable.response
}
