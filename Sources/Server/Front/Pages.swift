// SPDX-License-Identifier: Apache-2.0
import HTTP

/// Pages for browsers, beside the API.
protocol Pages: Sendable {
    /// Answers a request for one of the pages; nil for a path that is none of theirs.
    func answer(_ request: HTTPRequest, from origin: Origin) async -> PageAnswer?
}

/// What a request for a page was answered with.
struct PageAnswer: Sendable {
    /// The row of the site's table; `none` where there is none.
    let pattern: String
    /// `ok`, the code of a problem, or of a sign-in `waiting`, `over`, and `elsewhere` where none is
    /// waited for.
    let outcome: String
    let response: HTTPResponse
}
