// SPDX-License-Identifier: Apache-2.0
import Posix

/// A URL that an application is notified at, in the one form in which all programs read it alike.
struct CallbackURL: Equatable, Sendable {
    /// The maximum length, in bytes.
    static let longest = 512

    /// The URL as it was given, which is also the audience of each callback.
    let text: String
    /// Whether it begins with `http://`.
    let isPlain: Bool
    /// The name or address of the host, an IPv6 address without brackets.
    let host: String
    let port: UInt16

    /// What audit trail and log may show: path and query may contain a secret.
    var origin: String { String(text.prefix(originLength)) }
    private let originLength: Int

    /// Parses `https://host[:port][/path][?query]`, or the same with `http`.
    ///
    /// Scheme and host must be in lower case. The host is a name, four decimal numbers, or an IPv6
    /// address in brackets: all other forms that some programs take for addresses are refused.
    init(_ text: String) throws(FieldFault) {
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw FieldFault(
                text: "a callback URL has at most \(Self.longest) visible ASCII characters")
        }
        let schemes = [("https://", UInt16(443)), ("http://", UInt16(80))]
        guard let (scheme, standard) = schemes.first(where: { text.hasPrefix($0.0) }) else {
            throw FieldFault(text: "a callback URL begins with https://")
        }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !text.contains("#"), !authority.contains("@"), !authority.contains("\\") else {
            throw FieldFault(text: "a callback URL has no user name and no fragment")
        }
        guard let (host, port) = Self.split(authority) else {
            throw FieldFault(
                text: """
                    '\(authority)' is not a host with or without a port: write a name in lower \
                    case, 192.0.2.1, or [2001:db8::1]
                    """)
        }
        self.text = text
        isPlain = scheme == "http://"
        self.host = host
        self.port = port ?? standard
        originLength = scheme.count + authority.count
    }

    private static func split(_ authority: Substring) -> (host: String, port: UInt16?)? {
        var host = authority
        var port: UInt16?
        let end = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[end...].lastIndex(of: ":") {
            let digits = authority[authority.index(after: colon)...]
            guard let number = UInt16(digits), number > 0, String(number) == digits else {
                return nil
            }
            port = number
            host = authority[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inner = String(host.dropFirst().dropLast())
            guard let address = InternetAddress(inner), address.isIPv6 else { return nil }
            return (inner, port)
        }
        return isName(host) || isNumeric(host) ? (String(host), port) : nil
    }

    private static func isNumeric(_ host: Substring) -> Bool {
        InternetAddress(String(host)).map { !$0.isIPv6 && $0.text == host } ?? false
    }

    /// Whether a host is a name and nothing that inet_aton(3) would take for a number.
    private static func isName(_ host: Substring) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard host.utf8.count <= 253, labels.allSatisfy(isLabel), let last = labels.last else {
            return false
        }
        return !last.hasPrefix("0x") && !last.utf8.allSatisfy { 0x30...0x39 ~= $0 }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
