// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import SignedFormats
import TestSupport
import Testing

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }
private func url(_ bytes: [UInt8]) -> [UInt8] { Base64.encode(bytes, alphabet: .url) }

@Suite("A signed web token")
struct WebTokenTests {
    private let key: P256PrivateKey
    private let webKey: JSONWebKey
    private let payload = bytes(#"{"sub":"alice","aud":"shop.example","exp":1795195500}"#)

    init() throws {
        key = try P256PrivateKey.generate()
        webKey = try JSONWebKey(P256PublicKey(point: key.publicPoint))
    }

    private func token() throws -> [UInt8] {
        try JSONWebToken.sign(payload: payload, with: key, keyID: webKey.id)
    }

    private func refuse(_ token: [UInt8], _ fault: TokenFault) {
        #expect(throws: fault) { try JSONWebToken.verify(token, keys: [webKey]) }
    }

    /// A token with another header, properly signed over it.
    private func token(header: String) throws -> [UInt8] {
        let signed = url(bytes(header)) + bytes(".") + url(payload)
        let signature = try key.sign(signed)
        return signed + bytes(".") + url(signature.r + signature.s)
    }

    @Test("is read with its payload, whichever of the keys signed it")
    func roundTrip() throws {
        let token = try token()
        #expect(try JSONWebToken.verify(token, keys: [webKey]) == payload)
        let other = try P256PrivateKey.generate()
        let otherKey = try JSONWebKey(P256PublicKey(point: other.publicPoint))
        #expect(try JSONWebToken.verify(token, keys: [otherKey, webKey]) == payload)
        #expect(throws: TokenFault.unknownHeader) {
            try JSONWebToken.verify(token, keys: [otherKey])
        }
        #expect(throws: TokenFault.unknownHeader) { try JSONWebToken.verify(token, keys: []) }
    }

    @Test("has the header that RFC 7515 defines, with the key's thumbprint")
    func header() throws {
        let header = try token().parts(between: UInt8(ascii: "."))[0]
        let id = String(decoding: webKey.id, as: UTF8.self)
        #expect(
            Base64.decode(header, alphabet: .url)
                == bytes(#"{"alg":"ES256","typ":"JWT","kid":"\#(id)"}"#))
    }

    @Test("by another key under this key's name is refused")
    func forged() throws {
        let other = try P256PrivateKey.generate()
        let forged = try JSONWebToken.sign(payload: payload, with: other, keyID: webKey.id)
        refuse(forged, .badSignature)
    }

    @Test("with another header is refused, though the signature fits")
    func headers() throws {
        let id = String(decoding: webKey.id, as: UTF8.self)
        #expect(
            try JSONWebToken.verify(
                token(header: #"{"alg":"ES256","typ":"JWT","kid":"\#(id)"}"#), keys: [webKey])
                == payload)
        for header in [
            #"{"alg":"none","typ":"JWT","kid":"\#(id)"}"#,
            #"{"alg":"HS256","typ":"JWT","kid":"\#(id)"}"#,
            #"{"alg":"ES384","typ":"JWT","kid":"\#(id)"}"#,
            #"{"alg":"es256","typ":"JWT","kid":"\#(id)"}"#,
            #"{"typ":"JWT","alg":"ES256","kid":"\#(id)"}"#,
            #"{"alg":"ES256","typ":"JWT"}"#, #"{"alg":"ES256","kid":"\#(id)"}"#,
            #"{"alg":"ES256","typ":"JWT","kid":"\#(id)","jku":"https://evil"}"#,
            #"{"alg":"ES256","typ":"JWT","kid":"\#(id)","crit":["exp"]}"#,
            #"{ "alg":"ES256","typ":"JWT","kid":"\#(id)"}"#, "{}", "",
        ] {
            refuse(try token(header: header), .unknownHeader)
        }
    }

    @Test("without a signature, with a cut one, or with one in DER is refused")
    func signatures() throws {
        let parts = try token().parts(between: UInt8(ascii: "."))
        let head = parts[0] + bytes(".") + parts[1] + bytes(".")
        let numbers = try #require(Base64.decode(parts[2], alphabet: .url))
        refuse(head, .badSignature)
        for count in 0..<64 { refuse(head + url(Array(numbers[..<count])), .badSignature) }
        refuse(head + url(numbers + [0]), .badSignature)
        refuse(head + url([UInt8](repeating: 0, count: 64)), .badSignature)
        let der =
            [0x30, 0x46, 2, 0x21, 0] + numbers[..<32] + [2, 0x21, 0] + numbers[32...] as [UInt8]
        refuse(head + url(der), .badSignature)
        let none = url(bytes(#"{"alg":"none"}"#)) + bytes(".") + parts[1] + bytes(".")
        refuse(none, .unknownHeader)
    }

    @Test("of fewer or more than three parts, padded, or cut anywhere is refused")
    func forms() throws {
        let token = try token()
        refuse(token + bytes("."), .malformed)
        refuse(bytes(".") + token, .malformed)
        refuse(token + bytes("=="), .malformed)
        refuse([], .malformed)
        for length in token.indices {
            #expect(throws: TokenFault.self) {
                try JSONWebToken.verify(Array(token[..<length]), keys: [webKey])
            }
        }
    }

    @Test("altered in one bit anywhere is refused")
    func altered() throws {
        let token = try token()
        for index in token.indices {
            for bit in [0, 5] as [UInt8] {
                var altered = token
                altered[index] ^= 1 << bit
                #expect(throws: TokenFault.self) {
                    try JSONWebToken.verify(altered, keys: [webKey])
                }
            }
        }
    }

    @Test("over its cap is neither written nor read")
    func length() throws {
        let long = [UInt8](repeating: 0x61, count: JSONWebToken.maximumLength)
        refuse(long + bytes("."), .tooLong)
        for count in [6_100, 8_192, 8_193, 100_000] {
            #expect(throws: CryptoFault.length) {
                try JSONWebToken.sign(
                    payload: [UInt8](repeating: 0x61, count: count), with: key, keyID: webKey.id)
            }
        }
        let most = [UInt8](repeating: 0x61, count: 5_900)
        let token = try JSONWebToken.sign(payload: most, with: key, keyID: webKey.id)
        #expect(try JSONWebToken.verify(token, keys: [webKey]) == most)
    }

    @Test("RFC 7515's own ES256 signature fits our key, but its header is not ours")
    func vector() throws {
        // RFC 7515, appendix A.3.
        let x = try #require(
            Base64.decode(bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"), alphabet: .url))
        let y = try #require(
            Base64.decode(bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"), alphabet: .url))
        let key = try P256PublicKey(point: [4] + x + y)
        let signed = bytes(
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9l"
                + "eGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ")
        let text =
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU"
            + "1Q"
        let numbers = try #require(Base64.decode(bytes(text), alphabet: .url))
        let signature = try #require(
            P256Signature(r: Array(numbers[..<32]), s: Array(numbers[32...])))
        #expect(try key.verifies(signature, message: signed))
        let webKey = try JSONWebKey(key)
        #expect(throws: TokenFault.unknownHeader) {
            try JSONWebToken.verify(signed + bytes("." + text), keys: [webKey])
        }
        // Its thumbprint, computed with Python's hashlib over the members of RFC 7638.
        #expect(webKey.id == bytes("oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U"))
        #expect(webKey.x == url(x))
        #expect(webKey.y == url(y))
        #expect(
            webKey.json
                == bytes(
                    #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
                        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","use":"sig","#
                        + #""alg":"ES256","kid":"oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U"}"#))
    }
}
