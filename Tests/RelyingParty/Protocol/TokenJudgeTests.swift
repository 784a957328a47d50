// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Posix
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

@Suite("An access token before independent judges")
struct TokenJudgeTests {
    /// A server whose clock is the machine's, as the judge's is, and a token of it.
    private func login() async throws -> (TestServer, TestDevice, String) {
        let server = try await TestServer.make(.sqlite)
        server.time.pass(Int64(Date().timeIntervalSince1970) - TestTime.start)
        let device = try TestDevice()
        try await server.register(device)
        let tokens = try #require(try await server.logIn(device)["tokens"] as? [String: Any])
        return (server, device, try #require(tokens["accessToken"] as? String))
    }

    /// What PyJWT says of each token.
    private func judge(
        _ server: TestServer, _ tokens: [String], audience: String
    ) async throws -> [String] {
        let jwks = try await server.send("GET", "/.well-known/jwks.json")
        #expect(jwks.status == 200)
        let given: [String: Any] = [
            "jwks": jwks.members, "tokens": tokens, "audience": audience,
            "issuer": "https://id.example.org",
        ]
        let input = try JSONSerialization.data(withJSONObject: given)
        let script = "\(Layout.package)/Tests/RelyingParty/Fixtures/Judges/tokens.py"
        let outcome = try Program(
            Command(["/usr/bin/python3", script]), input: String(decoding: input, as: UTF8.self)
        ).expectEnd(within: .seconds(60))
        #expect(outcome.succeeded, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    @Test("is accepted by PyJWT with the JWKS, and refused where it is altered")
    func independent() async throws {
        let (server, device, token) = try await login()
        let parts = token.split(separator: ".").map(String.init)
        var claims = [UInt8](try #require(Base64.decode([UInt8](parts[1].utf8), alphabet: .url)))
        let name = try #require(claims.firstRange(of: [UInt8]("alice".utf8)))
        claims.replaceSubrange(name, with: [UInt8]("mallo".utf8))
        let altered = [parts[0], base64(claims), parts[2]].joined(separator: ".")
        let verdicts = try await judge(
            server, [token, altered, parts[0] + "." + parts[1] + "."], audience: device.audience)
        #expect(
            verdicts == [
                "accepted alice", "refused InvalidSignatureError",
                "refused InvalidSignatureError",
            ])
        #expect(
            try await judge(server, [token], audience: "https://id.example.org/bank")
                == ["refused InvalidAudienceError"])
    }

    @Test("is held for forged by the server itself where its algorithm or key is another")
    func forged() async throws {
        let (server, _, token) = try await login()
        let parts = token.split(separator: ".").map(String.init)
        func isActive(_ token: String) async throws -> Bool? {
            try await server.ask("POST", "/v1/token/introspect", ["token": token])["active"]
                as? Bool
        }
        #expect(try await isActive(token) == true)
        let jwks = try await server.send("GET", "/.well-known/jwks.json")
        let keys = try #require(jwks["keys"] as? [[String: Any]])
        let kid = try #require(keys.first?["kid"] as? String)
        let none = base64([UInt8](#"{"alg":"none","typ":"JWT"}"#.utf8))
        let hashed = base64([UInt8](#"{"alg":"HS256","typ":"JWT","kid":"\#(kid)"}"#.utf8))
        // The public key as the secret of an HMAC, in the forms that it is known in.
        let point = try #require(server.service.keys.verifying.first).publicKey.point
        var secrets = [point, jwks.bytes].map { $0 }
        var forgeries = [
            "\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])", "\(hashed).\(parts[1]).",
        ]
        for index in secrets.indices {
            let signed = "\(hashed).\(parts[1])"
            let mac = try HMAC.sha256(
                of: [UInt8](signed.utf8), key: .init(moving: &secrets[index]))
            forgeries.append("\(signed).\(base64(mac))")
        }
        let stranger = try P256PrivateKey.generate()
        let strange = try JSONWebKey(P256PublicKey(point: stranger.publicPoint))
        let payload = try #require(Base64.decode([UInt8](parts[1].utf8), alphabet: .url))
        for id in [strange.id, [UInt8](kid.utf8)] {
            let token = try JSONWebToken.sign(payload: payload, with: stranger, keyID: id)
            forgeries.append(String(decoding: token, as: UTF8.self))
        }
        forgeries += [
            "", ".", "..", "\(parts[0]).\(parts[1])", token + ".", token + "A",
            String(repeating: "A", count: 9_000),
        ]
        for forgery in forgeries {
            #expect(try await isActive(forgery) == false, "\(forgery.prefix(60))")
        }
    }
}
