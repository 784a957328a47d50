// SPDX-License-Identifier: Apache-2.0
import Crypto
import HTTPServer
import Posix
import SignedFormats

/// The browser's only cookie: 256 random bits, replaced at each step of a sign-in.
///
/// The site stores only its digest. A slow, salted hash would gain nothing, since random bits
/// cannot be guessed. Tables are searched by digest, so the time of a look-up reveals nothing about
/// a cookie.
struct Cookie: Equatable, Sendable {
    /// SHA-256 of the cookie's text.
    struct Digest: Hashable, Sendable {
        let bytes: [UInt8]
    }

    private static let randomCount = 32

    /// The value that the browser stores and sends.
    let text: String
    /// The only form in which the site stores the cookie.
    let digest: Digest

    /// Generates a cookie; throws `.notNow` if there are no random bytes.
    static func fresh() throws(PageFault) -> Cookie {
        let random: [UInt8]
        do throws(SystemFault) {
            random = try randomBytes(randomCount)
        } catch { throw .notNow("no random bytes: \(error)") }
        return try Cookie(text: Base64.encode(random, alphabet: .url))
    }

    private init(text: [UInt8]) throws(PageFault) {
        self.text = String(decoding: text, as: UTF8.self)
        do throws(CryptoFault) {
            digest = Digest(bytes: try SHA256.digest(text))
        } catch { throw .notNow("cryptography failed: \(error)") }
    }

    /// Reads the cookie from a request.
    ///
    /// Returns nil if there is none, if it is malformed, or if there are several of this name,
    /// since all but one of them must have been planted.
    static func of(_ request: HTTPRequest, named name: String) throws(PageFault) -> Cookie? {
        guard let header = request.header("cookie") else { return nil }
        var found: [Substring.UTF8View] = []
        for pair in header.utf8.split(separator: UInt8(ascii: ";")) {
            let trimmed = pair.drop { $0 == 0x20 }
            guard trimmed.starts(with: name.utf8) else { continue }
            let rest = trimmed.dropFirst(name.utf8.count)
            guard rest.first == UInt8(ascii: "=") else { continue }
            found.append(rest.dropFirst())
        }
        guard found.count == 1, found[0].count == 43 else { return nil }
        let text = [UInt8](found[0])
        guard Base64.decode(text, alphabet: .url)?.count == randomCount else { return nil }
        return try Cookie(text: text)
    }

    /// The token in the forms that this browser was shown.
    ///
    /// It is derived from the cookie by SHA-256, so it does not reveal the cookie.
    var formToken: String {
        get throws(PageFault) {
            do throws(CryptoFault) {
                let digest = try SHA256.digest([UInt8]("site-form:".utf8) + [UInt8](text.utf8))
                return String(decoding: Base64.encode(digest, alphabet: .url), as: UTF8.self)
            } catch { throw .notNow("cryptography failed: \(error)") }
        }
    }

    /// Whether a form's token is that of this cookie, compared in constant time.
    func isShown(in token: String) throws(PageFault) -> Bool {
        constantTimeEqual([UInt8](token.utf8), [UInt8](try formToken.utf8))
    }
}

extension SiteAddress {
    /// The header that sets a cookie in the browser.
    func setting(_ cookie: Cookie) -> (name: String, value: String) {
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
