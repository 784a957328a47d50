// SPDX-License-Identifier: Apache-2.0
import Domain

/// The URL of a signet-server in canonical form, in which it is stored, compared and sealed to.
///
/// The form is `https://host[:port][/path]`, with the scheme and host in lower case, without a
/// slash at the end and without the default port 443. Spellings that differ only in these points
/// become equal, so that a key is sealed to one spelling.
package struct CanonicalServerURL: Equatable, Hashable, Sendable {
    /// The maximum length of a URL in bytes.
    ///
    /// A vault seals keys to the URL and limits its length.
    package static let maximumLength = 200

    /// The canonical form.
    package let text: String

    /// Converts a URL that a user typed to canonical form.
    ///
    /// Accepts upper case in scheme and host, slashes at the end, and port 443. Returns nil for any
    /// scheme but HTTPS, for a user name, query, fragment or percent sign, for path segments that
    /// are empty, `.` or `..`, and for URLs of more than 200 bytes.
    package init?(typed: String) {
        guard typed.utf8.count <= Self.maximumLength, typed.utf8.allSatisfy(Self.isAllowed) else {
            return nil
        }
        let scheme = "https://"
        guard typed.prefix(scheme.count).lowercased() == scheme else { return nil }
        let rest = typed.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" }.lowercased()
        var path = rest.drop { $0 != "/" }
        while path.hasSuffix("/") { path.removeLast() }
        guard Self.isHost(host), !path.contains("//"),
            !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." })
        else { return nil }
        let port = host.hasSuffix(":443") ? ":443".count : 0
        text = scheme + host.dropLast(port) + path
    }

    /// Checks that a URL is in canonical form already.
    ///
    /// Returns nil otherwise.
    package init?(_ url: ServerURL) {
        guard let typed = String(validating: url.bytes, as: UTF8.self),
            let canonical = CanonicalServerURL(typed: typed), canonical.text == typed
        else { return nil }
        self = canonical
    }

    /// The path, which the paths of calls follow; usually empty.
    package var path: String {
        String(text.dropFirst("https://".count).drop { $0 != "/" })
    }

    /// The canonical form as bytes.
    package var bytes: [UInt8] { [UInt8](text.utf8) }

    /// Whether the text is a host, with or without a port.
    ///
    /// A host is a name of letters, digits, hyphens and dots, or an IPv6 address in brackets; only
    /// its characters are checked, not its validity. A port is 1 to 65535 without leading zeros.
    private static func isHost(_ host: String) -> Bool {
        var name = host[...]
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return false }
            let address = name[name.index(after: name.startIndex)..<end]
            guard !address.isEmpty,
                address.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { return false }
            name = name[name.index(after: end)...]
        } else {
            let label = name.prefix { $0 != ":" }
            let isName = label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }
            guard isName, !label.isEmpty, !label.hasPrefix("."), !label.contains("..") else {
                return false
            }
            name = name.dropFirst(label.count)
        }
        if name.isEmpty { return true }
        guard name.first == ":", let port = UInt16(name.dropFirst()), port > 0 else { return false }
        return String(port) == name.dropFirst()
    }

    /// Whether a byte may occur anywhere in a URL.
    ///
    /// No other character needs to be decoded or escaped later.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~:/[]".utf8.contains(byte)
        }
    }
}

extension ServerURL {
    /// Takes a URL in its canonical form.
    package init(_ url: CanonicalServerURL) {
        self.init(url.bytes)
    }
}
