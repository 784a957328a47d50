// SPDX-License-Identifier: Apache-2.0
/// A request that has arrived completely.
package struct HTTPRequest: Sendable {
    /// `GET`, `POST` and so on, as sent.
    package let method: String
    /// Path and query as sent, which is what a signature of the request covers.
    package let target: String
    /// The path as sent, without the query.
    package let path: String
    /// The query's names and values, percent-decoded, in the order sent.
    package let query: [(name: String, value: String)]
    /// The headers in the order sent; names in lower case, values as sent.
    package let headers: [(name: String, value: String)]
    /// The body, which does not exceed the configured limit.
    package let body: [UInt8]
    /// The sender's numeric address without the port.
    package let peer: String

    /// Creates a request; `target` defaults to the path.
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

    /// Returns the value of the header with this lower-case name; nil if it is missing or repeated.
    package func header(_ name: String) -> String? {
        guard let place = headers.firstIndex(where: { $0.name == name }) else { return nil }
        let isOnly = !headers[(place + 1)...].contains { $0.name == name }
        return isOnly ? headers[place].value : nil
    }
}

/// The response to a request.
package struct HTTPResponse: Sendable {
    /// The status code, from 200 to 599.
    package var status: Int
    /// The names and values of the headers that the server does not set itself.
    ///
    /// A response with Content-Length, Transfer-Encoding, Date, Server or Connection here is not
    /// sent; the client gets 500.
    package var headers: [(name: String, value: String)]
    /// The body, which is not sent with status 204 or 304.
    package var body: [UInt8]

    /// Creates a response.
    package init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
