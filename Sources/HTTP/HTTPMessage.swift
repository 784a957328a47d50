// SPDX-License-Identifier: Apache-2.0
/// A request that has arrived whole.
package struct HTTPRequest: Sendable {
    /// `GET`, `POST`, … as it was sent.
    package let method: String
    /// Path and query as they were sent: what a signature of the request is about.
    package let target: String
    /// The path as it was sent, without the query.
    package let path: String
    /// The query's names and values, percent-decoded, in the order sent.
    package let query: [(name: String, value: String)]
    /// Names in lower case, in the order sent; values as sent.
    package let headers: [(name: String, value: String)]
    /// The body, within the limit that its route sets.
    package let body: [UInt8]
    /// The address of who sent it, without the port.
    package let peer: String

    /// From its parts; the target is the path, if nothing is said.
    package init(
        method: String, target: String? = nil, path: String,
        query: [(name: String, value: String)] = [], headers: [(name: String, value: String)] = [],
        body: [UInt8] = [], peer: String = ""
    ) {
        self.method = method
        self.target = target ?? path
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    /// The value of the one header of this name (in lower case); nil if there is none or several.
    package func header(_ name: String) -> String? {
        guard let place = headers.firstIndex(where: { $0.name == name }) else { return nil }
        let isOnly = !headers[(place + 1)...].contains { $0.name == name }
        return isOnly ? headers[place].value : nil
    }
}

/// What a request is answered with.
package struct HTTPResponse: Sendable {
    /// 200 to 599.
    package var status: Int
    /// Names and values; the length, the date and the connection are the server's own.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]

    /// From its parts.
    package init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
