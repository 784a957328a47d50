// SPDX-License-Identifier: Apache-2.0
/// How browsers call the site: from `server.url`, never from what a request says of itself.
///
/// A reverse proxy may do TLS: so whether cookies are for HTTPS alone is told by this, and not by
/// how the proxy's request arrived.
struct SiteAddress: Equatable, Sendable {
    /// As browsers write it in the header `Origin` (RFC 6454): `https://id.example.org`.
    let origin: String
    /// Whether it is HTTPS.
    let isSecure: Bool

    /// Nil for a URL with a path, and for plain HTTP that is not of this machine alone.
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

    /// The cookie's name. With the prefix, a browser takes it from this very host over HTTPS alone
    /// (RFC 6265bis, section 4.1.3.2): no neighbour under the same domain can put one there.
    var cookieName: String { isSecure ? "__Host-signet" : "signet" }

    /// Letters of a host and a port, as browsers write them.
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
