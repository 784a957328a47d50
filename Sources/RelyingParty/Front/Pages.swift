// SPDX-License-Identifier: Apache-2.0
import HTTPServer

/// The pages for browsers, served beside the API.
protocol Pages: Sendable {
    /// Answers a request for a page; nil for a path that is not one of theirs.
    func answer(_ request: HTTPRequest, from origin: Origin) async -> PageAnswer?
}

/// The answer to a request for a page.
struct PageAnswer: Sendable {
    /// The path in the table of pages; `none` if there is no such page.
    let pattern: String
    /// `ok`, the code of a problem, or about a sign-in: `waiting`, `over`, or `elsewhere` if the
    /// browser awaits none.
    let outcome: String
    let response: HTTPResponse
}
