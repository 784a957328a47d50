// SPDX-License-Identifier: Apache-2.0
/// What a server is asked.
package struct ClientRequest: Sendable {
    /// `GET`, `POST`, …
    package var method: String
    /// An absolute URL without a user name, sent as it is.
    package var url: String
    /// Names and values; a value may be a secret, and is in no error and no log.
    package var headers: [(name: String, value: String)]
    /// The body; nil sends none.
    package var body: [UInt8]?
    /// The time for all of it, where that is shorter than the client's.
    package var limit: Duration?

    /// From its parts.
    package init(
        method: String = "GET", url: String, headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, limit: Duration? = nil
    ) {
        self.limit = limit
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Tells whether the request asks for what HTTP calls safe: repeating it changes nothing.
    var isSafe: Bool { method == "GET" || method == "HEAD" }

    /// Refuses what could be read as another request, or goes to a place that was not meant.
    func check(allowsPlain: Bool) throws(ClientFault) {
        guard isToken(method) else { throw .badRequest("the method is no token") }
        guard url.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw .badRequest("the URL has characters that must be encoded")
        }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "https" || allowsPlain && scheme == "http" else {
            throw .badRequest("the URL does not begin with https://")
        }
        for header in headers {
            guard isToken(header.name) else { throw .badRequest("a header's name is no token") }
            // RFC 9110, 5.5: no control characters but the tab.
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw .badRequest("the value of \(header.name) has control characters")
            }
        }
    }
}

/// RFC 9110, 5.6.2.
private func isToken(_ text: String) -> Bool {
    !text.isEmpty
        && text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
}
