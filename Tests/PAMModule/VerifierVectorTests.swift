// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SignedFormats
import TestSupport
import Testing

@testable import ModuleVerifier

/// The module's own verifier, which uses other functions of libcrypto than the other programs.
@Suite("The module's verifier, with the vectors of Project Wycheproof")
struct WycheproofVerifierTests {
    @Test("accepts valid signatures, and no other")
    func ecdsa() throws {
        var accepted = 0
        for group in try WycheproofVectors("ecdsa_secp256r1_sha256_p1363_test").groups {
            let point = WycheproofVectors.bytes(try #require(group.publicKey).uncompressed)
            let key = try #require(SSHPublicKey(point: point))
            let verifier = try #require(Verifier.open(key))
            for vector in group.tests {
                let signature = vector.bytes("sig")
                guard signature.count == 64 else {
                    #expect(!vector.isValid)
                    continue
                }
                let isAccepted = verifier.holds(
                    r: Array(signature[..<32]), s: Array(signature[32...]),
                    over: try SHA256.digest(vector.bytes("msg")))
                #expect(isAccepted == vector.isValid, "\(vector.tcId): \(vector.comment)")
                accepted += isAccepted ? 1 : 0
            }
        }
        #expect(accepted > 100)
    }
}
