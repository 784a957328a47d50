// SPDX-License-Identifier: Apache-2.0
/// A request that was answered, as logs and figures have it: nothing in it is a secret, and
/// nothing but the address is a stranger's own text.
struct AccessLogEntry: Sendable {
    /// As the answer's `X-Request-Id` says it.
    let id: String
    /// `GET`, `POST`, …; `other` for what no call has.
    let method: String
    /// The row of the table of calls: `/v1/registrations/{id}`; `none` where there is none.
    let route: String
    let status: Int
    /// `ok`, or the code of the problem.
    let outcome: String
    let nanoseconds: Int64
    /// From where it came.
    let peer: String
}

/// Who is told of requests that were answered.
typealias Observer = @Sendable (AccessLogEntry) -> Void
