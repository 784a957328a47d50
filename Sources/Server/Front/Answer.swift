// SPDX-License-Identifier: Apache-2.0
import HTTP

/// What a call came to: the response, and what figures and log have of it.
struct Answer: Sendable {
    var response: HTTPResponse
    /// `ok`, or the code of what the response tells of.
    var outcome = "ok"
    /// Whether what the caller showed was good for something; if not, the call counts against the
    /// address, as a proof that does not hold does.
    var wasOfUse = true

    /// JSON that no cache keeps.
    static func json(
        _ value: some Encodable, status: Int = 200, outcome: String = "ok"
    ) -> Answer {
        json(body: JSON.encode(value), status: status, outcome: outcome)
    }

    /// The same of what writes itself.
    static func json(plain value: some PlainEncodable, outcome: String = "ok") -> Answer {
        json(body: JSON.encode(plain: value), status: 200, outcome: outcome)
    }

    private static func json(body: [UInt8], status: Int, outcome: String) -> Answer {
        Answer(
            response: HTTPResponse(
                status: status,
                headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
                body: body),
            outcome: outcome)
    }

    /// Done, and nothing to say.
    static let done = Answer(
        response: HTTPResponse(status: 204, headers: [("Cache-Control", "no-store")]))
}
