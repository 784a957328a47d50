// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats

/// A secret that authenticates its bearer: an API key, a refresh token or a session.
///
/// The text is a prefix and 32 random bytes in base64url; the server stores only the SHA-256 of the
/// text. A slow, salted hash would gain nothing: 2²⁵⁶ texts cannot be searched, no two are equal,
/// and a slow hash would let strangers keep the server busy. Rows are looked up by digest, so a
/// comparison that ends early reveals only digests, which a caller cannot choose.
package enum BearerSecret: CaseIterable, Sendable {
    case apiKey
    case refreshToken
    case session

    private static let randomCount = 32

    /// The prefix of the text, by which the kinds are told apart and leaked secrets are recognised.
    package var prefix: StaticString {
        switch self {
        case .apiKey: "sgk_"
        case .refreshToken: "sgr_"
        case .session: "sgs_"
        }
    }

    /// Generates a secret; returns the text, which is shown once, and its 32-byte digest, which is
    /// stored.
    package func generate() throws(CryptoFault) -> (text: [UInt8], digest: [UInt8]) {
        let random: [UInt8]
        do throws(SystemFault) {
            random = try randomBytes(BearerSecret.randomCount)
        } catch { throw .library(operation: error.operation) }
        let text = prefix.bytes + Base64.encode(random, alphabet: .url)
        return (text, try SHA256.digest(text))
    }

    /// Returns the digest to look up; nil if the text does not have the form of a secret of this
    /// kind.
    ///
    /// Only the form is checked: the prefix and exactly 43 characters of canonical base64url.
    /// Whether the secret is valid depends on the stored digests.
    package func digest(of text: [UInt8]) throws(CryptoFault) -> [UInt8]? {
        let start = prefix.bytes
        guard text.count == start.count + 43, text.starts(with: start),
            let random = Base64.decode([UInt8](text.dropFirst(start.count)), alphabet: .url),
            random.count == BearerSecret.randomCount
        else { return nil }
        return try SHA256.digest(text)
    }
}

extension ActivationCode {
    /// Generates a code from system randomness.
    package static func generate() throws(CryptoFault) -> ActivationCode {
        let random: [UInt8]
        do throws(SystemFault) {
            random = try randomBytes(randomCount)
        } catch { throw .library(operation: error.operation) }
        guard let code = ActivationCode(random: random) else { throw .length }
        return code
    }

    /// Returns the digest to store, 32 bytes: SHA-256 of `signet-activation:` and the canonical
    /// text.
    ///
    /// docs/developer/PROTOCOL.md explains why no slow hash is used.
    package func digest() throws(CryptoFault) -> [UInt8] {
        try SHA256.digest(StaticString("signet-activation:").bytes + text)
    }
}
