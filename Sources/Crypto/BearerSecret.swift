// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats

/// A secret that whoever shows it is let in by: an API key, a refresh token, a session, a
/// browser.
///
/// Its text is a prefix and 32 random bytes; what is kept is the SHA-256 of the text. A slow,
/// salted hash would gain nothing: nobody goes through 2²⁵⁶ texts, no two are alike, and a slow
/// one would let strangers keep the server busy. A row is found by its digest, so a comparison
/// that ends early tells of digests only, which cannot be chosen.
package enum BearerSecret: CaseIterable, Sendable {
    case apiKey
    case refreshToken
    case session
    case browser

    private static let randomCount = 32

    /// What the text begins with, so that a leaked one is recognised, and none passes as another.
    package var prefix: StaticString {
        switch self {
        case .apiKey: "sgk_"
        case .refreshToken: "sgr_"
        case .session: "sgs_"
        case .browser: "sgb_"
        }
    }

    /// Makes a new one: the text, which is shown once, and the digest, which is kept.
    package func generate() throws(CryptoFault) -> (text: [UInt8], digest: [UInt8]) {
        let random: [UInt8]
        do throws(SystemFault) {
            random = try randomBytes(BearerSecret.randomCount)
        } catch { throw .library(operation: error.operation) }
        let text = prefix.bytes + Base64.encode(random, .url)
        return (text, try SHA256.digest(text))
    }

    /// The digest to look for, or nil if the text is none of this kind.
    package func digest(of text: [UInt8]) throws(CryptoFault) -> [UInt8]? {
        let start = prefix.bytes
        guard text.count == start.count + 43, text.starts(with: start),
            let random = Base64.decode([UInt8](text.dropFirst(start.count)), .url),
            random.count == BearerSecret.randomCount
        else { return nil }
        return try SHA256.digest(text)
    }
}

extension ActivationCode {
    /// Makes a new code.
    package static func generate() throws(CryptoFault) -> ActivationCode {
        let random: [UInt8]
        do throws(SystemFault) {
            random = try randomBytes(randomCount)
        } catch { throw .library(operation: error.operation) }
        guard let code = ActivationCode(random: random) else { throw .length }
        return code
    }

    /// What is kept of it, 32 bytes; docs/developer/PROTOCOL.md says why no slow hash.
    package func digest() throws(CryptoFault) -> [UInt8] {
        try SHA256.digest(StaticString("signet-activation:").bytes + text)
    }
}
