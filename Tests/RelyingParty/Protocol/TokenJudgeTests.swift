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
    /// Seconds for which tokens of these tests count.
    private let life: Int64 = 3_000

    /// A server whose clock was the machine's, as the judges' are, some seconds ago, and a token of it.
    private func login(
        secondsAgo: Int64 = 0
    ) async throws -> (TestServer, TestDevice, String) {
        let server = try await TestServer.make(.sqlite)
        server.time.pass(Int64(Date().timeIntervalSince1970) - secondsAgo - TestTime.start)
        let device = try TestDevice()
        try await server.register(device)
        try await server.administer("application", "set", "shop", "--access-seconds", "\(life)")
        return (server, device, try token(of: try await server.logIn(device)))
    }

    private func token(of login: Reply) throws -> String {
        let tokens = try #require(login["tokens"] as? [String: Any])
        return try #require(tokens["accessToken"] as? String)
    }

    private func jwks(_ server: TestServer) async throws -> [String: Any] {
        let reply = try await server.send("GET", "/.well-known/jwks.json")
        #expect(reply.status == 200)
        return reply.members
    }

    @Test(
        "is accepted with the JWKS, after a login, a refresh and a new signing key",
        arguments: TokenJudge.available)
    func independent(judge: TokenJudge) async throws {
        let lead = KeyUse.token.leadSeconds
        let (server, device, token) = try await login(secondsAgo: lead)
        let tokens = try #require(try await server.logIn(device)["tokens"] as? [String: Any])
        let refreshed = try await server.send(
            "POST", "/v1/token/refresh", ["refreshToken": tokens["refreshToken"] ?? ""])
        try await server.administer("signing-key", "rotate", "token")
        try await server.service.keys.refresh(at: server.time.now)
        server.time.pass(lead)
        try await server.service.keys.refresh(at: server.time.now)
        let later = try self.token(of: try await server.logIn(device))
        let keys = try await jwks(server)
        let cases = [token, try refreshed.text("accessToken"), later].map {
            TokenJudge.Case(jwks: keys, token: $0, audience: device.audience)
        }
        #expect(Set(cases.map { $0.token.prefix { $0 != "." } }).count == 2, "two keys")
        #expect(
            try judge.verdicts(on: cases) == Array(repeating: "accepted alice", count: 3))
    }

    @Test("is refused where it is altered, stale or for another", arguments: TokenJudge.available)
    func refused(judge: TokenJudge) async throws {
        let (server, device, token) = try await login()
        let parts = token.split(separator: ".").map(String.init)
        var claims = [UInt8](try #require(Base64.decode([UInt8](parts[1].utf8), alphabet: .url)))
        let name = try #require(claims.firstRange(of: [UInt8]("alice".utf8)))
        claims.replaceSubrange(name, with: [UInt8]("mallo".utf8))
        let none = base64([UInt8](#"{"alg":"none","typ":"JWT"}"#.utf8))
        let whole = TokenJudge.Case(
            jwks: try await jwks(server), token: token, audience: device.audience)
        var cases = [
            [parts[0], base64(claims), parts[2]].joined(separator: "."),
            "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])", "\(none).\(parts[1]).",
            "\(none).\(parts[1]).\(parts[2])", "", "..", String(token.dropLast(4)),
        ].map { altered in
            var entry = whole
            entry.token = altered
            return entry
        }
        for change in [
            { $0.audience = "https://id.example.org/bank" },
            { $0.issuer = "https://other.example.org" }, { $0.type = "signet-callback+jwt" },
        ] as [(inout TokenJudge.Case) -> Void] {
            var entry = whole
            change(&entry)
            cases.append(entry)
        }
        // By the keys of another server, and after its end.
        let (past, _, stale) = try await login(secondsAgo: life + 100)
        let others = try await jwks(past)
        cases.append(TokenJudge.Case(jwks: others, token: token, audience: device.audience))
        cases.append(TokenJudge.Case(jwks: others, token: stale, audience: device.audience))
        let verdicts = try judge.verdicts(on: cases + [whole])
        for (entry, verdict) in zip(cases, verdicts) {
            #expect(verdict.hasPrefix("refused "), "\(entry.token): \(verdict)")
        }
        #expect(verdicts.last == "accepted alice")
    }

    @Test("is no callback to them, which they accept as one alone", arguments: TokenJudge.available)
    func callbacks(judge: TokenJudge) async throws {
        let (server, device, _) = try await login()
        let receiver = try CallbackReceiver()
        try await server.setCallback(receiver.url)
        let place = "/v1/registrations/\(device.registration)"
        #expect(try await server.ask("POST", "\(place)/block", [:]).status == 200)
        try await server.send()
        let body = String(decoding: try #require(receiver.received.first), as: UTF8.self)
        let callback = TokenJudge.Case(
            jwks: try await jwks(server), token: body, type: "signet-callback+jwt",
            audience: receiver.url)
        var (token, elsewhere, altered) = (callback, callback, callback)
        token.type = "JWT"
        elsewhere.audience += "&more"
        altered.token = String(body.dropLast(8)) + "AAAAAAAA"
        let verdicts = try judge.verdicts(on: [callback, token, elsewhere, altered])
        #expect(verdicts.first == "accepted alice")
        for verdict in verdicts.dropFirst() { #expect(verdict.hasPrefix("refused ")) }
        await receiver.stop()
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
