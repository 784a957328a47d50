// SPDX-License-Identifier: Apache-2.0
import Crypto
import HTTP
import Posix
import SignedFormats

/// The one cookie of a browser: a secret of 256 random bits, another one after each step.
struct BrowserCookie: Equatable, Sendable {
    /// As the browser keeps it.
    let text: String
    /// As the database keeps it.
    let digest: [UInt8]

    /// A fresh one for a browser that is nobody's yet, or one that was signed in just now.
    static func fresh() throws(CryptoFault) -> BrowserCookie {
        let made = try BearerSecret.browser.generate()
        return BrowserCookie(
            text: String(decoding: made.text, as: UTF8.self), digest: made.digest)
    }

    /// The secret of a login that waits, as `/v1/login/init` tells it.
    static func waiting(_ session: String) throws(CryptoFault) -> BrowserCookie? {
        guard let digest = try BearerSecret.session.digest(of: [UInt8](session.utf8)) else {
            return nil
        }
        return BrowserCookie(text: session, digest: digest)
    }

    /// What a request has of this name; nil where there is none, where it has not the form of one,
    /// and where there are several: somebody else put one of them there.
    static func of(_ request: HTTPRequest, named name: String) throws(CryptoFault) -> BrowserCookie?
    {
        guard let header = request.header("cookie") else { return nil }
        var found: [Substring.UTF8View] = []
        for pair in header.utf8.split(separator: UInt8(ascii: ";")) {
            let trimmed = pair.drop { $0 == 0x20 }
            guard trimmed.starts(with: name.utf8) else { continue }
            let rest = trimmed.dropFirst(name.utf8.count)
            guard rest.first == UInt8(ascii: "=") else { continue }
            found.append(rest.dropFirst())
        }
        guard found.count == 1 else { return nil }
        let text = [UInt8](found[0])
        for kind in [BearerSecret.browser, .session] {
            if let digest = try kind.digest(of: text) {
                return BrowserCookie(text: String(decoding: text, as: UTF8.self), digest: digest)
            }
        }
        return nil
    }

    /// What forms carry that this browser was shown: it follows from the cookie, and tells nothing
    /// of it.
    var formToken: String {
        get throws(CryptoFault) {
            String(
                decoding: Base64.encode(
                    try SHA256.digest([UInt8]("signet-form:".utf8) + [UInt8](text.utf8)), .url),
                as: UTF8.self)
        }
    }

    /// Whether a form carries that; in constant time.
    func isShown(in token: String) throws(CryptoFault) -> Bool {
        constantTimeEqual([UInt8](token.utf8), [UInt8](try formToken.utf8))
    }
}

extension SiteAddress {
    /// The header that puts a cookie into the browser, until it is closed.
    func setting(_ cookie: BrowserCookie) -> (name: String, value: String) {
        ("Set-Cookie", "\(cookieName)=\(cookie.text); \(attributes)")
    }

    /// The header that takes the cookie away.
    var unsetting: (name: String, value: String) {
        ("Set-Cookie", "\(cookieName)=; Max-Age=0; \(attributes)")
    }

    private var attributes: String {
        "Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }
}
