// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import RelyingParty

@Suite("JSON in the plain form")
struct PlainJSONTests {
    @Test(
        "is read as the decoder for all of JSON reads it",
        arguments: [
            #"{"application":"shop","account":"alice","device":"00000000000000000000000000000000"}"#,
            " {\t\"account\" :\r\n\"a \\\"b\\\\ \\/ c\", \"application\":\"{x}\", "
                + #""device":"0123456789abcdef0123456789abcdef","action":"mac-token"} "#,
            #"{"more":"","application":"a","account":"b","device":"00000000000000000000000000000000"}"#,
        ])
    func same(text: String) throws {
        let bytes = [UInt8](text.utf8)
        let plain = try #require(PlainObject(bytes).flatMap { ChallengeRequest($0) })
        let decoded = try JSON.decode(ChallengeRequest.self, from: bytes)
        #expect(plain.application == decoded.application)
        #expect(plain.account == decoded.account)
        #expect(plain.device == decoded.device)
        #expect(plain.action == decoded.action)
    }

    @Test(
        "is nothing else",
        arguments: [
            "", " ", "{", "}", "{}", "[]", "null", #"{"a"}"#, #"{"a":}"#, #"{"a":"b""#,
            #"{"a":"b",}"#,
            #"{,"a":"b"}"#, #"{"a":"b"}x"#, #"{"a":"b"}{}"#, #"{"a":"b" "c":"d"}"#, #"{"a":1}"#,
            #"{"a":null}"#, #"{"a":{"b":"c"}}"#, #"{"a":["b"]}"#, #"{"a":"b","a":"b"}"#,
            #"{"a":"b","a":"c"}"#, #"{"\u0061":"b"}"#, #"{"a":"\u0062"}"#, #"{"a":"\n"}"#,
            #"{"a":"\"}"#, #"{"a":"\"#, #"{'a':'b'}"#, #"{a:"b"}"#, "{\"a\":\"b\u{7f}\"}",
            "{\"a\":\"b\nc\"}", "{\"a\":\"b\0\"}", "{\"a\":\"ü\"}", "\u{feff}{\"a\":\"b\"}",
            #"{"a":"b"//"# + "\n}",
            "{" + (0..<17).map { "\"a\($0)\":\"\"" }.joined(separator: ",") + "}",
        ])
    func refused(text: String) {
        #expect(PlainObject([UInt8](text.utf8)) == nil)
    }

    @Test("that was cut anywhere is not read")
    func cut() throws {
        let whole = [UInt8](#"{ "authorization" : "Signet a=\"b\"", "method":"GET" }"#.utf8)
        let object = try #require(PlainObject(whole))
        #expect(object.text("authorization") == #"Signet a="b""#)
        #expect(object.text("other") == nil && !object.has("other"))
        for count in 0..<whole.count { #expect(PlainObject(Array(whole[..<count])) == nil) }
    }

    @Test("has nothing that a call does not take")
    func bodies() throws {
        let id = String(repeating: "0", count: 32)
        for body in [
            #"{"application":"","account":"b","device":"\#(id)"}"#,
            #"{"application":"a","account":"b","device":"\#(id)0"}"#,
            #"{"application":"a","account":"b","device":"\#(id)","action":"all"}"#,
            #"{"application":"a","account":"b"}"#,
        ] {
            let object = try #require(PlainObject([UInt8](body.utf8)))
            #expect(ChallengeRequest(object) == nil)
        }
        for body in [
            #"{"statement":"AA","signature":"A"}"#, #"{"statement":"AA=","signature":"AA"}"#,
            #"{"statement":"AA"}"#, #"{"statement":"AA","signature":"AA","module":"x"}"#,
        ] {
            let object = try #require(PlainObject([UInt8](body.utf8)))
            #expect(SignedChallengeRequest(object) == nil)
        }
    }

    @Test("is written as the encoder for all of JSON writes it")
    func written() throws {
        let odd = "a \"quoted\" \\ /path\u{0}\u{1f}\n\t\u{7f} ü 日本 \u{2028}"
        let claims = AccessClaims(
            iss: "https://id.example.org", sub: odd, aud: "", iat: 1, exp: -2, jti: "a", sid: "b",
            reg: "c", amr: ["fpt", "hwk"], roles: [], flags: [odd])
        try expectSame(claims)
        let challenge = ChallengeAnswer(
            challenge: Binary([1, 2, 3]), audience: odd, expires: 9_223_372_036_854_775_807)
        try expectSame(challenge)
        let verdict = SignedVerdict(statement: Binary([255]), signature: Binary([]))
        for verdict in [nil, verdict] {
            try expectSame(
                LoginAnswer(
                    valid: true, application: "shop", account: odd,
                    registration: ID([UInt8](repeating: 7, count: 16)), status: .active,
                    factor: "fingerprint", remainingAttempts: 5, flags: ["x", odd], roles: [],
                    tokens: TokenPair(
                        accessToken: "a.b.c", tokenType: "Bearer", expiresIn: 300,
                        refreshToken: "sgr_x"), verdict: verdict))
        }
        var problem = Problem.refused
        try expectSame(AuthenticationAnswer(refusedFor: problem))
        problem.remainingAttempts = 3
        try expectSame(AuthenticationAnswer(refusedFor: problem))
    }

    private func expectSame(_ value: some PlainEncodable) throws {
        let plain = JSON.encode(plain: value)
        let general = try JSONSerialization.jsonObject(with: Data(JSON.encode(value)))
        let read = try JSONSerialization.jsonObject(with: Data(plain))
        let objects = try #require(
            (general as? NSDictionary, read as? NSDictionary) as? (NSDictionary, NSDictionary))
        #expect(objects.0 == objects.1, "\(String(decoding: plain, as: UTF8.self))")
    }
}
