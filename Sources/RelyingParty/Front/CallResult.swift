// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import JSONFormat

/// The result of a call: the HTTP response, and its outcome for the log and the rate limit.
struct CallResult: Sendable {
    var response: HTTPResponse
    /// `ok`, or the code of the problem that the response reports.
    var outcome = "ok"
    /// Whether the call had an effect.
    ///
    /// If not, it counts against the rate limit of its address, as an invalid proof does.
    var wasOfUse = true

    /// A JSON response that must not be cached.
    static func json(
        _ value: some Encodable, status: Int = 200, outcome: String = "ok"
    ) -> CallResult {
        json(body: JSON.encode(value), status: status, outcome: outcome)
    }

    /// A JSON response that must not be cached, from a value that encodes itself.
    static func json(plain value: some PlainEncodable, outcome: String = "ok") -> CallResult {
        json(body: JSON.encode(plain: value), status: 200, outcome: outcome)
    }

    /// A JSON response that must not be cached, from its bytes.
    static func json(body: [UInt8], status: Int = 200, outcome: String = "ok") -> CallResult {
        CallResult(
            response: HTTPResponse(
                status: status,
                headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
                body: body),
            outcome: outcome)
    }

    /// 204, without a body.
    static let done = CallResult(
        response: HTTPResponse(status: 204, headers: [("Cache-Control", "no-store")]))
}
