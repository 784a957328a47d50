// SPDX-License-Identifier: Apache-2.0
import HTTPServer

// Requests that are refused before they are matched to a route.
extension Dispatcher {
    /// Answers a request that the HTTP server itself refuses, with `status`.
    ///
    /// The answer is a problem document, and is logged and counted like any other refusal.
    package func refuse(_ status: Int, request: HTTPRequest) -> HTTPResponse {
        let problem = Problem(refusedByServer: status)
        var response = problem.response
        let id = numbers.next()
        response.headers.append(("X-Request-Id", id))
        observer(
            AccessLogEntry(
                id: id, method: Self.methods.contains(request.method) ? request.method : "other",
                route: pattern(of: request) ?? "none", status: status,
                outcome: problem.code, nanoseconds: 0, peer: origin(of: request).address))
        return response
    }
}

extension Problem {
    /// The problem for a status with which the HTTP server refuses a request.
    fileprivate init(refusedByServer status: Int) {
        switch status {
        case 411: self = .lengthRequired
        case 413: self = .tooLarge
        case 431:
            self.init(
                status: status, code: "malformed", title: "the head of the request is too large")
        case 503:
            // The next process will answer in a moment.
            self.init(
                status: status, code: "unavailable", title: "the server is stopping: try again",
                headers: ["Retry-After": "1"])
        default:
            self.init(
                status: status, code: "malformed",
                title: "the request is malformed or ambiguous")
        }
    }
}
