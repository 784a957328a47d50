// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// What an HTTP request asks for: path and query as they are sent, escapes and all.
enum RequestTarget {
    /// From a URL, or from path and query alone; nil for anything else, a fragment included.
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
        // What a client sends for a URL without a path; RFC 9112, section 3.2.1.
        let resource = rest.first == UInt8(ascii: "/") ? Bytes(rest) : [UInt8(ascii: "/")] + rest
        return resource.count <= Limit.resource ? resource : nil
    }

    private static func isPrefix(_ scheme: String, of url: String) -> Bool {
        url.prefix(scheme.count).lowercased() == scheme
    }

    /// What stands in a request's first line as it is; RFC 3986, section 2.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"#<>\\^`{|}".utf8.contains(byte)
    }
}
