// SPDX-License-Identifier: Apache-2.0
/// A request to a server.
package struct ClientRequest: Sendable {
    /// `GET`, `POST` and so on.
    package var method: String
    /// An absolute URL without a user name, sent unchanged.
    package var url: String
    /// Names and values; a value may be a secret, and never appears in a fault or log.
    package var headers: [(name: String, value: String)]
    /// The body; nil for none.
    package var body: [UInt8]?
    /// A time limit for the whole request; the client's own limit applies if that is shorter.
    package var limit: Duration?

    /// Creates a request; it is checked when it is performed.
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

    /// The URL's host, an IPv6 address in brackets, and its port, or that of the scheme; nil if the
    /// URL has a user name, or no host.
    var hostAndPort: (host: String, port: UInt16)? {
        guard let colon = url.firstRange(of: "://") else { return nil }
        let authority = url[colon.upperBound...].prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else { return nil }
        var host = authority
        if !authority.hasSuffix("]"), let last = authority.lastIndex(of: ":") {
            host = authority[..<last]
            guard !host.isEmpty, let port = UInt16(authority[authority.index(after: last)...])
            else { return nil }
            return (String(host), port)
        }
        let isPlain = url[..<colon.lowerBound].lowercased() == "http"
        return host.isEmpty ? nil : (String(host), isPlain ? 80 : 443)
    }

    /// Whether HTTP defines the method as safe, so that repeating the request changes nothing.
    var isSafe: Bool { method == "GET" || method == "HEAD" }

    /// Checks that the request is unambiguous and that its scheme is permitted.
    ///
    /// The method and the header names must be tokens, the URL must consist of visible ASCII, and
    /// header values must have no control characters except tabs.
    ///
    /// - Throws: `.badRequest` otherwise.
    func check(allowsPlain: Bool) throws(ClientFault) {
        guard isToken(method) else { throw .badRequest("the method is not a token") }
        guard url.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw .badRequest("the URL has characters that must be encoded")
        }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "https" || allowsPlain && scheme == "http" else {
            throw .badRequest("the URL does not begin with https://")
        }
        for header in headers {
            guard isToken(header.name) else { throw .badRequest("a header's name is not a token") }
            // RFC 9110, section 5.5, allows no control characters except tabs.
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw .badRequest("the value of \(header.name) has control characters")
            }
        }
    }
}

/// Whether a text is a token (RFC 9110, section 5.6.2).
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
