// SPDX-License-Identifier: Apache-2.0
import Crypto
import HTTPServer
import Posix
import SignedFormats

/// The browser's only cookie: a random bearer secret, replaced at each step of a sign-in.
///
/// It identifies either a browser that is not signed in, a login that awaits approval, or a
/// session. The database stores only the digest.
struct BrowserCookie: Equatable, Sendable {
    /// The value that the browser stores.
    let text: String
    /// The value that the database stores.
    let digest: [UInt8]

    /// Generates a cookie for a browser that is unknown or was just signed in.
    static func fresh() throws(CryptoFault) -> BrowserCookie {
        let made = try BearerSecret.browser.generate()
        return BrowserCookie(
            text: String(decoding: made.text, as: UTF8.self), digest: made.digest)
    }

    /// The cookie of a pending login: its session secret, as `/v1/login/init` returned it.
    static func waiting(_ session: String) throws(CryptoFault) -> BrowserCookie? {
        guard let digest = try BearerSecret.session.digest(of: [UInt8](session.utf8)) else {
            return nil
        }
        return BrowserCookie(text: session, digest: digest)
    }

    /// Reads the cookie from a request.
    ///
    /// Returns nil if there is none, if it is malformed, or if there are several of this name,
    /// because then one of them was planted by someone else.
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

    /// The token in forms that this browser was shown. It is derived from the cookie by SHA-256, so
    /// it does not reveal the cookie.
    var formToken: String {
        get throws(CryptoFault) {
            String(
                decoding: Base64.encode(
                    try SHA256.digest([UInt8]("signet-form:".utf8) + [UInt8](text.utf8)),
                    alphabet: .url),
                as: UTF8.self)
        }
    }

    /// Compares a form's token in constant time.
    func isShown(in token: String) throws(CryptoFault) -> Bool {
        constantTimeEqual([UInt8](token.utf8), [UInt8](try formToken.utf8))
    }
}

extension SiteAddress {
    /// The header that sets a session cookie in the browser.
    func setting(_ cookie: BrowserCookie) -> (name: String, value: String) {
        ("Set-Cookie", "\(cookieName)=\(cookie.text); \(attributes)")
    }

    /// The header that deletes the cookie.
    var unsetting: (name: String, value: String) {
        ("Set-Cookie", "\(cookieName)=; Max-Age=0; \(attributes)")
    }

    private var attributes: String {
        "Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }
}
