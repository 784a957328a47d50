// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// Why a token was refused.
package enum TokenFault: Error, Equatable, Sendable {
    /// It is longer than its cap.
    case tooLong
    /// It is not three parts of base64url.
    case malformed
    /// Its header is none that we write for one of the keys: another algorithm, type or key.
    case unknownHeader
    /// The signature does not fit.
    case badSignature
    /// Cryptography failed for a reason that lies not in the token.
    case crypto(CryptoFault)
}

/// Signed tokens in compact form, ES256 only; RFC 7515, RFC 7518 section 3.4, RFC 7519.
///
/// Headers are compared with the one that we write, byte for byte, and never parsed: nothing in a
/// token chooses an algorithm, a key's place or an extension. What the payload says (`exp`, `aud`,
/// …) is the caller's to check.
package enum JSONWebToken {
    /// The longest token in bytes.
    package static let maximumLength = 8_192

    private static let separator = UInt8(ascii: ".")

    /// Signs a payload, the bytes of a JSON object; `keyID` is the thumbprint of the key.
    ///
    /// Throws `.length` where the token would be longer than its cap.
    package static func sign(
        payload: [UInt8], with key: P256PrivateKey, keyID: [UInt8]
    ) throws(CryptoFault) -> [UInt8] {
        guard payload.count <= maximumLength else { throw .length }
        var token = encodedHeader(keyID: keyID) + [separator] + Base64.encode(payload, .url)
        let signature = try key.sign(token)
        token.append(separator)
        token += Base64.encode(signature.r + signature.s, .url)
        guard token.count <= maximumLength else { throw .length }
        return token
    }

    /// Returns the payload of a token that one of the keys signed.
    package static func verify(
        _ compact: [UInt8], keys: [JSONWebKey]
    ) throws(TokenFault) -> [UInt8] {
        guard compact.count <= maximumLength else { throw .tooLong }
        let parts = compact.parts(between: separator)
        guard parts.count == 3, let payload = Base64.decode(parts[1], .url),
            let numbers = Base64.decode(parts[2], .url)
        else { throw .malformed }
        guard let key = keys.first(where: { $0.encodedHeader == parts[0] }) else {
            throw .unknownHeader
        }
        // r and s of 32 bytes each: neither shorter ones nor DER.
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

    /// The first part of every token that the key with this thumbprint signs.
    static func encodedHeader(keyID: [UInt8]) -> [UInt8] {
        let header =
            StaticString("{\"alg\":\"ES256\",\"typ\":\"JWT\",\"kid\":\"").bytes + keyID
            + StaticString("\"}").bytes
        return Base64.encode(header, .url)
    }
}
