// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// A public key that verifies tokens, identified by its thumbprint; RFC 7517, RFC 7638.
///
/// It is what the server publishes in its JWKS. Equal keys have equal ids on every machine.
package struct JSONWebKey: Sendable {
    /// The key.
    package let publicKey: P256PublicKey
    /// The SHA-256 thumbprint in base64url, 43 characters; the `kid` of the key's tokens.
    package let id: [UInt8]
    /// The x coordinate of the point in base64url; RFC 7518, section 6.2.1.2.
    package let x: [UInt8]
    /// The y coordinate of the point in base64url.
    package let y: [UInt8]
    /// The encoded header of every access token that this key signs.
    let encodedHeader: [UInt8]

    /// Derives all fields from the public key.
    package init(_ publicKey: P256PublicKey) throws(CryptoFault) {
        let half = 1 + P256.scalarCount
        self.publicKey = publicKey
        x = Base64.encode([UInt8](publicKey.point[1..<half]), alphabet: .url)
        y = Base64.encode([UInt8](publicKey.point[half...]), alphabet: .url)
        // RFC 7638, section 3: the required members in lexicographic order, without spaces.
        let thumbprint =
            StaticString("{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"").bytes + x
            + StaticString("\",\"y\":\"").bytes + y + StaticString("\"}").bytes
        id = Base64.encode(try SHA256.digest(thumbprint), alphabet: .url)
        encodedHeader = JSONWebToken.encodedHeader(keyID: id, type: .access)
    }

    /// The key as a member of the array `keys` of a JWKS, in JSON without spaces.
    package var json: [UInt8] {
        StaticString("{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"").bytes + x
            + StaticString("\",\"y\":\"").bytes + y
            + StaticString("\",\"use\":\"sig\",\"alg\":\"ES256\",\"kid\":\"").bytes + id
            + StaticString("\"}").bytes
    }
}
