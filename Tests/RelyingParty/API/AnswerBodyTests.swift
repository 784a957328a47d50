// SPDX-License-Identifier: Apache-2.0
import Domain
import Foundation
import JSONFormat
import ServerAPI
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The body of an answer")
struct AnswerBodyTests {
    private let odd = "a \"quoted\" \\ /path\u{0}\u{1f}\n\t\u{7f} ü 日本 \u{2028}"

    /// What Foundation's encoder writes, which answers had before.
    private func foundation(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("is byte for byte what Foundation's encoder writes")
    func general() throws {
        struct Odd: Encodable {
            let b: String
            let a: [String: [Int64]]
            let none: String?
            let c: [[Bool]]
            let d: UInt64
            let empty: [String]
            let nothing: RevocationAnswer
        }
        let value = Odd(
            b: odd, a: ["x": [1, -2], "é": [], "X": [.max, .min]], none: nil,
            c: [[true], [], [false]], d: .max, empty: [], nothing: RevocationAnswer())
        #expect(text(JSON.encode(value)) == (try foundation(value)))
        let state = RegistrationState(
            registration: .sample(repeating: 7), account: odd,
            device: .sample(repeating: 8), credential: .sample(repeating: 9), deviceName: nil,
            status: .active, reason: nil, fingerprint: "SHA256:a/b+c", key: "tpm", secureBoot: nil,
            attested: [.key, .secureBoot], factors: [.fingerprint], flags: ["x"], failures: 0,
            created: 1, lastUsed: nil)
        let list = RegistrationList(registrations: [state, state])
        #expect(text(JSON.encode(list)) == (try foundation(list)))
        let inactive = IntrospectionAnswer.inactive
        #expect(text(JSON.encode(inactive)) == (try foundation(inactive)))
    }

    @Test("is equal if it encodes itself")
    func written() throws {
        let claims = AccessClaims(
            iss: "https://id.example.org", sub: odd, aud: "", iat: 1, exp: -2, jti: "a", sid: "b",
            reg: "c", amr: ["fpt", "hwk"], roles: [], flags: [odd])
        try expectSame(claims)
        for policy in [
            nil, DevicePolicy(factors: [], keys: .any, secureBoot: .attested),
            DevicePolicy(factors: KeyFactor.allCases, keys: .tpm, secureBoot: .on),
        ] {
            try expectSame(
                ChallengeAnswer(
                    challenge: .sample(repeating: 3), audience: odd,
                    expires: 9_223_372_036_854_775_807, policy: policy))
        }
        let verdict = SignedVerdict(statement: Binary([255]), signature: Binary([]))
        for verdict in [nil, verdict] {
            try expectSame(
                AcceptedLogin(
                    application: "shop", applicationRoles: [odd, "y"], account: odd,
                    registration: .sample(repeating: 7), status: .active,
                    factor: "fingerprint", remainingAttempts: 5, flags: ["x", odd], roles: [],
                    tokens: TokenPair(
                        accessToken: "a.b.c", tokenType: "Bearer", expiresIn: 300,
                        refreshToken: "sgr_x"), verdict: verdict))
        }
        var problem = Problem.refused
        try expectSame(AuthenticationAnswer(refusedFor: problem, application: odd, roles: [odd]))
        problem.remainingAttempts = 3
        try expectSame(AuthenticationAnswer(refusedFor: problem, application: "", roles: []))
    }

    private func expectSame(_ value: some PlainEncodable) throws {
        let plain = text(JSON.encode(plain: value))
        #expect(plain == text(JSON.encode(value)))
        #expect(plain == (try foundation(value)))
    }
}
