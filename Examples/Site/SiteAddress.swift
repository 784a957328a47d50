// SPDX-License-Identifier: Apache-2.0
/// The site's address as browsers use it, from the configuration and never from a request.
///
/// It decides whether cookies are for HTTPS only. The connection does not, because a reverse proxy
/// may terminate TLS.
struct SiteAddress: Equatable, Sendable {
    /// The origin (RFC 6454) as browsers send it, for example `https://id.example.org`.
    let origin: String
    /// Whether the scheme is HTTPS.
    let isSecure: Bool

    /// Parses the site's URL.
    ///
    /// Returns nil for a URL with a path, for plain HTTP unless the host is `localhost`,
    /// `127.0.0.1` or `[::1]`, and for anything else that is not a host with an optional port.
    init?(_ url: String) {
        let lower = url.lowercased()
        isSecure = lower.hasPrefix("https://")
        guard isSecure || lower.hasPrefix("http://") else { return nil }
        var place = lower.drop { $0 != "/" }.dropFirst(2)
        if place.last == "/" { place = place.dropLast() }
        let standard = isSecure ? ":443" : ":80"
        if place.hasSuffix(standard) { place = place.dropLast(standard.count) }
        guard !place.isEmpty, place.utf8.allSatisfy(Self.isPlaceByte) else { return nil }
        guard isSecure || Self.isLocal(place) else { return nil }
        origin = (isSecure ? "https://" : "http://") + place
    }

    /// The cookie's name.
    ///
    /// Browsers accept a name with the prefix `__Host-` only from this host and over HTTPS (RFC
    /// 6265bis, section 4.1.3.2), so another host of the domain cannot plant such a cookie.
    var cookieName: String { isSecure ? "__Host-signet" : "signet" }

    /// Whether a byte may occur in a host and port as browsers write them.
    private static func isPlaceByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
            UInt8(ascii: "]"):
            true
        default: false
        }
    }

    private static func isLocal(_ place: Substring) -> Bool {
        var host = place
        if let colon = place.lastIndex(of: ":"), place.last != "]" { host = place[..<colon] }
        return host == "localhost" || host == "[::1]" || host == "127.0.0.1"
    }
}
