// SPDX-License-Identifier: Apache-2.0
/// A request that was answered, as the log and the figures record it.
///
/// It contains no secret, and no text chosen by a stranger except the address.
struct AccessLogEntry: Sendable {
    /// The id in the response's header `X-Request-Id`.
    let id: String
    /// `GET`, `POST` and the like; `other` for a method that no route uses.
    let method: String
    /// The route's path, such as `/v1/registrations/{id}`; `none` if no route matched.
    let route: String
    let status: Int
    /// `ok`, or the code of the problem.
    let outcome: String
    let nanoseconds: Int64
    /// The sender's address.
    let peer: String
}

/// A function that receives each request after it was answered.
typealias Observer = @Sendable (AccessLogEntry) -> Void
