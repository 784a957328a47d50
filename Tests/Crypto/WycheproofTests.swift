// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import SignedFormats
import TestSupport
import Testing

/// Test vectors that many libraries have failed; see Tests/Fixtures/wycheproof/README.md.
@Suite("The vectors of Project Wycheproof")
struct WycheproofTests {
    @Test("for ECDSA on P-256: valid signatures are accepted, and no other")
    func ecdsa() throws {
        var accepted = 0
        for group in try WycheproofVectors("ecdsa_secp256r1_sha256_p1363_test").groups {
            let point = WycheproofVectors.bytes(try #require(group.publicKey).uncompressed)
            let key = try P256PublicKey(point: point)
            for vector in group.tests {
                let bytes = vector.bytes("sig")
                // r and s have 32 bytes each, or it is no signature.
                let signature =
                    bytes.count == 64
                    ? P256Signature(r: Array(bytes[..<32]), s: Array(bytes[32...])) : nil
                let isAccepted = try signature.map {
                    try key.verifies($0, message: vector.bytes("msg"))
                }
                #expect(
                    isAccepted ?? false == vector.isValid, "\(vector.tcId): \(vector.comment)")
                accepted += isAccepted == true ? 1 : 0
            }
        }
        #expect(accepted > 100)
    }

    @Test("for AES-256-GCM: what is authentic opens, and nothing else")
    func aesGCM() throws {
        var opened = 0
        for group in try WycheproofVectors("aes_gcm_test").groups
        where group.keySize == 256 && group.ivSize == 96 && group.tagSize == 128 {
            for vector in group.tests {
                let sealed = ["iv", "ct", "tag"].flatMap(vector.bytes)
                let key = try secret(vector.bytes("key"))
                let additional = vector.bytes("aad")
                do throws(CryptoFault) {
                    let plain = try AESGCM.open(sealed, key: key, additional: additional)
                    #expect(vector.isValid, "\(vector.tcId): \(vector.comment)")
                    #expect(revealed(plain) == vector.bytes("msg"), "\(vector.tcId)")
                    opened += 1
                } catch {
                    #expect(!vector.isValid && error == .notAuthentic, "\(vector.tcId): \(error)")
                }
            }
        }
        #expect(opened > 30)
    }

    @Test("for AES-GCM with keys of other lengths: none is used")
    func aesGCMOfOtherLengths() throws {
        for group in try WycheproofVectors("aes_gcm_test").groups where group.keySize != 256 {
            for vector in group.tests {
                let sealed = ["iv", "ct", "tag"].flatMap(vector.bytes)
                #expect(throws: CryptoFault.length) {
                    try AESGCM.open(
                        sealed, key: secret(vector.bytes("key")),
                        additional: vector.bytes("aad"))
                }
            }
        }
    }

    @Test("for HKDF with SHA-256: each secret is derived, and none that is too long")
    func hkdf() throws {
        var derived = 0
        for group in try WycheproofVectors("hkdf_sha256_test").groups {
            for vector in group.tests {
                let size = try #require(Int(vector["size"]))
                let result = Result {
                    try HKDF.derive(
                        from: secret(vector.bytes("ikm")), salt: vector.bytes("salt"),
                        info: vector.bytes("info"), count: size)
                }
                guard vector.isValid else {
                    #expect(throws: CryptoFault.length, "\(vector.tcId)") { try result.get() }
                    continue
                }
                #expect(revealed(try result.get()) == vector.bytes("okm"), "\(vector.tcId)")
                derived += 1
            }
        }
        #expect(derived > 70)
    }

    @Test("for HMAC with SHA-256: whole codes are accepted if they are right, truncated ones never")
    func hmac() throws {
        var accepted = 0
        for group in try WycheproofVectors("hmac_sha256_test").groups {
            for vector in group.tests {
                let isAccepted = try HMAC.verifies(
                    vector.bytes("tag"), of: vector.bytes("msg"), key: secret(vector.bytes("key")))
                let isWhole = group.tagSize == 256
                #expect(
                    isAccepted == (vector.isValid && isWhole),
                    "\(vector.tcId): \(vector.comment)")
                accepted += isAccepted ? 1 : 0
            }
        }
        #expect(accepted > 30)
    }

    @Test("for signed tokens: none passes as ours, since their headers are not the one we write")
    func webSignatures() throws {
        var count = 0
        for group in try WycheproofVectors("json_web_signature_test").groups {
            let key = try Self.webKey(group)
            let other = try JSONWebKey(P256PublicKey(point: P256Tests.point))
            for vector in group.tests {
                #expect(throws: TokenFault.self, "\(vector.tcId): \(vector.comment)") {
                    try JSONWebToken.verify(Array(vector["jws"].utf8), keys: [key ?? other])
                }
                count += 1
            }
        }
        #expect(count > 300)
    }

    @Test(
        "for signed tokens: with our header, a signature is accepted if it is valid, and no other")
    func webSignaturesUnderOurHeader() throws {
        let own = try P256PrivateKey.generate()
        let key = try JSONWebKey(P256PublicKey(point: own.publicPoint))
        var count = 0
        for group in try WycheproofVectors("json_web_signature_test").groups {
            for vector in group.tests {
                let parts = vector["jws"].split(separator: ".", omittingEmptySubsequences: false)
                // A payload that they sign, under our header and with their signature.
                guard parts.count == 3,
                    let payload = Base64.decode(
                        Array(parts[1].utf8), alphabet: .url), payload.count < 4_096
                else { continue }
                let token = String(
                    decoding: try JSONWebToken.sign(payload: payload, with: own, keyID: key.id),
                    as: UTF8.self)
                #expect(try JSONWebToken.verify(Array(token.utf8), keys: [key]) == payload)
                let signed = token.prefix { $0 != "." } + ".\(parts[1])."
                #expect(throws: TokenFault.self, "\(vector.tcId): \(vector.comment)") {
                    try JSONWebToken.verify(Array("\(signed)\(parts[2])".utf8), keys: [key])
                }
                count += 1
            }
        }
        #expect(count > 200)
    }

    /// The key of a group; nil unless it is one on P-256.
    private static func webKey(_ group: WycheproofVectors.Group) throws -> JSONWebKey? {
        guard let key = group.webKey, key.crv == "P-256", let x = key.x, let y = key.y,
            let first = Base64.decode(Array(x.utf8), alphabet: .url),
            let second = Base64.decode(Array(y.utf8), alphabet: .url)
        else { return nil }
        return try JSONWebKey(P256PublicKey(point: [4] + first + second))
    }
}
