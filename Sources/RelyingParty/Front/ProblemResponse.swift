// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import JSONFormat
import ServerAPI

extension Problem {
    /// The response with the body `application/problem+json` (RFC 9457), which must not be cached.
    package var response: HTTPResponse {
        let document = ProblemDocument(
            title: title, status: status, code: code, remainingAttempts: remainingAttempts,
            scope: scope, requirement: requirement?.rawValue)
        return HTTPResponse(
            status: status,
            headers: [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
                + headers.map { (name: $0.key, value: $0.value) },
            body: JSON.encode(document))
    }
}
