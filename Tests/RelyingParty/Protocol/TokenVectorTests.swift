// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import RelyingParty

/// The cases of libraries/vectors about access tokens and callbacks, before a library of others.
///
/// Signet's own libraries require the one form that the server writes. joserfc knows nothing of that
/// form: what it accepts beyond theirs is listed here by name, and was signed by the server's key.
@Suite(
    "The vectors of tokens and callbacks before joserfc",
    .enabled(if: TokenJudge.joserfc.isInstalled, "joserfc could not be installed from PyPI"))
struct TokenVectorTests {
    /// Headers of another form for the same algorithm, type and key.
    private static let headers: Set<String> = [
        "the members in another order", "a space in the header", "a member twice",
        "a URL of keys", "a key in the header", "an escape in the header",
    ]
    /// Claims that are no token or event of the server's, and JSON that its reader refuses.
    private static let claims: Set<String> = [
        "a claim twice", "a claim twice, once with an escape", "a byte order mark",
        "an unpaired surrogate", "NaN", "a name of 129 bytes", "513 levels",
        "exp with a fraction", "exp beyond all times", "aud as a list", "roles as a string",
        "a role that is a number", "a session in upper case", "no amr", "no flags", "no reg",
        "no roles", "an id in upper case", "an id that is too short",
        "an operation that is no id", "a registration that is null", "a reason that is a number",
        "a time with a fraction", "no time", "no application",
    ]

    private struct Vector {
        let name: String
        let expected: String
        let judged: TokenJudge.Case

        init(_ entry: [String: Any]) throws {
            let keys = try #require(entry["keys"] as? [String: String])
            let input = try #require(entry["input"] as? [String: String])
            let jwks = try JSONSerialization.jsonObject(with: Data((keys["jwks"] ?? "").utf8))
            let isToken = entry["kind"] as? String == "token"
            name = try #require(entry["name"] as? String)
            expected = try #require(entry["expected"] as? String)
            judged = TokenJudge.Case(
                jwks: try #require(jwks as? [String: Any]),
                token: try #require(input[isToken ? "token" : "body"]),
                type: isToken ? "JWT" : "signet-callback+jwt",
                issuer: try #require(keys["issuer"]),
                audience: try #require(keys[isToken ? "audience" : "url"]),
                now: try #require(entry["now"] as? Int64))
        }
    }

    @Test(
        "valid ones are accepted, and altered ones refused",
        arguments: [("token", 100), ("callback", 50), ("recorded", 5)])
    func judged(file: String, least: Int) throws {
        let data = Data(try Layout.read("\(Layout.package)/libraries/vectors/\(file).json"))
        let document = try #require(
            try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let entries = try #require(document["cases"] as? [[String: Any]])
        let vectors = try entries.filter {
            ["token", "callback"].contains($0["kind"] as? String)
        }.map(Vector.init)
        #expect(vectors.count > least)
        let verdicts = try TokenJudge.joserfc.verdicts(on: vectors.map(\.judged))
        for (vector, verdict) in zip(vectors, verdicts) {
            let isAccepted = verdict.hasPrefix("accepted ")
            switch vector.expected {
            case "valid": #expect(isAccepted, "\(vector.name): \(verdict)")
            case "unsupported-header" where Self.headers.contains(vector.name),
                "malformed" where Self.claims.contains(vector.name):
                break
            default: #expect(!isAccepted, "\(vector.name): \(verdict)")
            }
        }
    }
}
