// SPDX-License-Identifier: Apache-2.0
/// What a server answered.
package struct HTTPAnswer: Sendable {
    /// 100 to 599.
    package let status: Int
    /// Names in lower case, in the order received.
    package let headers: [(name: String, value: String)]
    /// The body, within the limit that was asked for.
    package let body: [UInt8]

    /// From its parts.
    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
