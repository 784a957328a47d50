// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// The target of an HTTP request: path and query as sent, with their escapes.
enum RequestTarget {
    /// Extracts the target from a URL, or from a path with query.
    ///
    /// Returns nil for anything else, such as a URL with a fragment, and for more than
    /// `Limit.resource` bytes.
    static func resource(of url: String) -> Bytes? {
        let bytes = Bytes(url.utf8)
        guard bytes.allSatisfy(isAllowed) else { return nil }
        var rest = bytes[...]
        if rest.first != UInt8(ascii: "/") {
            guard let scheme = ["https://", "http://"].first(where: { isPrefix($0, of: url) })
            else { return nil }
            rest = rest.dropFirst(scheme.utf8.count)
            let host = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            guard !host.isEmpty else { return nil }
            rest = rest.dropFirst(host.count)
        }
        // A client sends "/" for a URL without a path; RFC 9112, section 3.2.1.
        let resource = rest.first == UInt8(ascii: "/") ? Bytes(rest) : [UInt8(ascii: "/")] + rest
        return resource.count <= Limit.resource ? resource : nil
    }

    private static func isPrefix(_ scheme: String, of url: String) -> Bool {
        url.prefix(scheme.count).lowercased() == scheme
    }

    /// Whether a character may stand unescaped in a request line; RFC 3986, section 2.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"#<>\\^`{|}".utf8.contains(byte)
    }
}

/// Messages about the request to sign.
enum RequestTargetMessages {
    /// The method is not an HTTP method.
    static func badMethod(_ method: Bytes) -> Text {
        "\(method) is not an HTTP method: use one like GET or POST, in capital letters"
    }

    /// The URL cannot be used for a request.
    static func badTarget(_ url: Bytes) -> Text {
        """
        \(url) is not a valid URL for an HTTP request: it must look like \
        https://shop.example/payments?id=7, with everything else escaped
        """
    }
}
