// SPDX-License-Identifier: Apache-2.0
/// The response of a server.
package struct HTTPAnswer: Sendable {
    /// The status code, from 100 to 599.
    package let status: Int
    /// The headers in the order received, with names in lower case.
    package let headers: [(name: String, value: String)]
    /// The body, within the configured limit.
    package let body: [UInt8]

    /// Creates a response.
    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
