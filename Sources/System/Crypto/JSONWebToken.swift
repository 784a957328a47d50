// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// The reason why a token was rejected.
package enum TokenFault: Error, Equatable, Sendable {
    /// The token is longer than `JSONWebToken.maximumLength`.
    case tooLong
    /// The token does not consist of three parts in base64url.
    case malformed
    /// The header is not exactly the one that is written for one of the keys: it names another
    /// algorithm, type or key.
    case unknownHeader
    /// The signature does not have 64 bytes or does not verify.
    case badSignature
    /// Cryptography failed for a reason unrelated to the token.
    case crypto(CryptoFault)
}

/// What a token is for, as its header says (`typ`), so that none can be taken for another.
package enum TokenType: String, Sendable {
    /// An access token.
    case access = "JWT"
    /// The content of a callback; RFC 8725, section 3.11.
    case callback = "signet-callback+jwt"
}

/// JSON Web Tokens in compact form, signed with ES256 only; RFC 7515, RFC 7518 section 3.4, RFC
/// 7519.
///
/// Headers are never parsed. They are compared byte by byte with the one that `sign` writes, so
/// nothing in a token can choose an algorithm, a key location or an extension. The caller must
/// check the claims in the payload (`exp`, `aud`, …); nothing here knows the time.
package enum JSONWebToken {
    /// The maximum length of a token in bytes, in both directions.
    package static let maximumLength = 8_192

    private static let separator = UInt8(ascii: ".")

    /// Signs a payload, the bytes of a JSON object; `keyID` is the thumbprint of the key.
    ///
    /// `type` is what the header says that the token is for.
    ///
    /// The id is written into the header without escaping, so it must be base64url. Throws
    /// `.length` if the token would be longer than `maximumLength`.
    package static func sign(
        payload: [UInt8], with key: P256PrivateKey, keyID: [UInt8], type: TokenType = .access
    ) throws(CryptoFault) -> [UInt8] {
        guard payload.count <= maximumLength else { throw .length }
        var token =
            encodedHeader(keyID: keyID, type: type) + [separator]
            + Base64.encode(payload, alphabet: .url)
        let signature = try key.sign(token)
        token.append(separator)
        token += Base64.encode(signature.r + signature.s, alphabet: .url)
        guard token.count <= maximumLength else { throw .length }
        return token
    }

    /// Returns the payload of an access token that one of the keys signed; does not check its claims.
    ///
    /// The header selects the key, and only that key is tried. Throws `.tooLong`, `.malformed`,
    /// `.unknownHeader` or `.badSignature` for a token that must be rejected, and `.crypto` if the
    /// verification itself failed.
    package static func verify(
        _ compact: [UInt8], keys: [JSONWebKey]
    ) throws(TokenFault) -> [UInt8] {
        guard compact.count <= maximumLength else { throw .tooLong }
        let parts = compact.parts(between: separator)
        guard parts.count == 3, let payload = Base64.decode(parts[1], alphabet: .url),
            let numbers = Base64.decode(parts[2], alphabet: .url)
        else { throw .malformed }
        guard let key = keys.first(where: { $0.encodedHeader == parts[0] }) else {
            throw .unknownHeader
        }
        // r and s must have exactly 32 bytes each; shorter numbers and DER are rejected.
        let half = P256.scalarCount
        guard numbers.count == 2 * half,
            let signature = P256Signature(
                r: [UInt8](numbers[..<half]), s: [UInt8](numbers[half...]))
        else { throw .badSignature }
        let signed = [UInt8](compact.dropLast(1 + parts[2].count))
        let fits: Bool
        do throws(CryptoFault) {
            fits = try key.publicKey.verifies(signature, message: signed)
        } catch { throw .crypto(error) }
        guard fits else { throw .badSignature }
        return payload
    }

    /// Returns the encoded header of every token of a type signed by the key with this thumbprint.
    static func encodedHeader(keyID: [UInt8], type: TokenType) -> [UInt8] {
        let header =
            StaticString("{\"alg\":\"ES256\",\"typ\":\"").bytes + [UInt8](type.rawValue.utf8)
            + StaticString("\",\"kid\":\"").bytes + keyID + StaticString("\"}").bytes
        return Base64.encode(header, alphabet: .url)
    }
}
