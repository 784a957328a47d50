// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import JSONFormat
import Posix
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

/// The cases of libraries/vectors, which both libraries for back ends are tested with, before the
/// verifiers of this repository.
///
/// Each judge here returns the libraries' failure code, as far as it follows from the form, the
/// signature or the MAC alone. What it cannot see (the time, used nonces, the policy) is `valid` to
/// it; checks/libraries has a running server judge that.
@Suite("The vectors of the libraries for back ends")
struct LibraryVectorTests {
    /// The codes that follow from more than form, key and signature.
    private static let beyond: Set<String> = ["clock", "replayed", "policy", "expired"]

    private func cases(_ file: String, kind: String) throws -> [Case] {
        let bytes = try Layout.read("\(Layout.package)/libraries/vectors/\(file).json")
        let entries = try #require(JSON(parsing: bytes)["cases"]?.arrayValue)
        let found = entries.filter { $0["kind"]?.stringValue == kind }.map { Case(json: $0) }
        #expect(found.count > 5)
        return found
    }

    @Test("signed requests are judged alike", arguments: ["request", "recorded"])
    func signedRequests(file: String) throws {
        for entry in try cases(file, kind: "request") where entry["keys", "devices"] != nil {
            // Several headers, or none, are for the HTTP server.
            guard let header = entry["input", "authorization"]?.stringValue else { continue }
            let found = try signed([UInt8](header.utf8), entry: entry)
            let isBeyond = Self.beyond.contains(entry.expected)
            #expect(found == (isBeyond ? "valid" : entry.expected), "\(entry.name)")
        }
    }

    private func signed(_ header: [UInt8], entry: Case) throws -> String {
        let authorization: SignetAuthorization
        do throws(HeaderFault) {
            authorization = try SignetAuthorization(header: header)
        } catch { return error.code }
        guard let statement = try? RequestStatement(parsing: authorization.statement) else {
            return "malformed"
        }
        guard try received(entry).isMeant(by: statement.request) else { return "wrong-request" }
        guard statement.head.audience.bytes == (try entry.bytes("keys", "audience")) else {
            return "wrong-audience"
        }
        guard let signature = try? SSHSignature(blob: authorization.signature) else {
            return codeOfBlob(authorization.signature)
        }
        let devices = try #require(entry["keys", "devices"]?.arrayValue)
        let isKnown = devices.contains { device in
            device["account"]?.stringValue.map { [UInt8]($0.utf8) } == statement.head.account.bytes
                && device["device"]?.stringValue == text(statement.head.device.hexadecimal)
                && device["credential"]?.stringValue == text(statement.head.credential.hexadecimal)
                && device["publicKey"]?.stringValue
                    == text(Base64.encode(signature.publicKey.point.bytes, alphabet: .url))
        }
        guard isKnown else { return "unknown-key" }
        let signed = try UnverifiedStatement<RequestStatement>(
            parsing: authorization.statement, signature: authorization.signature)
        let verified = signed.verified(by: signature.publicKey.point.bytes, in: .request)
        return verified == nil ? "bad-signature" : "valid"
    }

    private func received(_ entry: Case) throws -> ReceivedRequest {
        ReceivedRequest(
            method: try entry.bytes("input", "method"),
            resource: try entry.bytes("input", "resource"),
            body: try SHA256.digest(try entry.binary("input", "body")))
    }

    @Test("requests with a MAC are judged alike", arguments: ["mac", "recorded"])
    func requestsWithMAC(file: String) throws {
        for entry in try cases(file, kind: "request") where entry["keys", "macTokens"] != nil {
            let found = try authenticated(entry.bytes("input", "authorization"), entry: entry)
            let isBeyond = Self.beyond.contains(entry.expected)
            #expect(found == (isBeyond ? "valid" : entry.expected), "\(entry.name)")
        }
    }

    private func authenticated(_ header: [UInt8], entry: Case) throws -> String {
        let authorization: MACAuthorization
        do throws(HeaderFault) {
            authorization = try MACAuthorization(header: header)
        } catch { return error.code }
        let tokens = try #require(entry["keys", "macTokens"]?.arrayValue)
        let id = text(authorization.token.hexadecimal)
        guard let token = tokens.first(where: { $0["token"]?.stringValue == id }),
            let said = token["secret"]?.stringValue,
            var bytes = Base64.decode([UInt8](said.utf8), alphabet: .url)
        else { return "unknown-key" }
        let secret = try SecretBytes(moving: &bytes)
        let request = try received(entry)
        let authenticated = MACText(
            audience: Audience(try entry.bytes("keys", "audience")), token: authorization.token,
            request: RequestLines(
                method: request.method, resource: request.resource, nonce: authorization.nonce,
                body: request.body),
            issued: authorization.issued)
        let isRight = try HMAC.verifies(authorization.mac, of: authenticated.encoded(), key: secret)
        return isRight ? "valid" : "bad-mac"
    }

    @Test("access tokens are judged alike", arguments: ["token", "recorded"])
    func tokens(file: String) throws {
        // The libraries are stricter here: libraries/README.md says so.
        let stricter: Set = [
            "exp with a fraction", "exp below zero", "exp beyond all times",
            "not before 31 s from now",
        ]
        for entry in try cases(file, kind: "token") where !stricter.contains(entry.name) {
            let found = try judged(entry)
            // The server compares no issuer, since its own keys sign for itself alone.
            let expected = entry.expected == "wrong-issuer" ? "valid" : entry.expected
            let isNoKey = ["unsupported-header", "unknown-key"].contains(expected)
            #expect(found == (isNoKey ? "unknown-header" : expected), "\(entry.name)")
        }
    }

    private func judged(_ entry: Case) throws -> String {
        let document = try JSON(parsing: try entry.bytes("keys", "jwks"))
        let members = try #require(document["keys"]?.arrayValue)
        let keys = members.filter(\.isForTokens).compactMap(\.webKey)
        let token = try entry.bytes("input", "token")
        let payload: [UInt8]
        do throws(TokenFault) {
            payload = try JSONWebToken.verify(token, keys: keys)
        } catch { return error.code }
        guard let claims = try? JSON.decode(AccessClaims.self, from: payload),
            SessionID(hexadecimal: [UInt8](claims.sid.utf8)) != nil
        else { return "malformed" }
        let now = try entry.now
        guard claims.aud == entry["keys", "audience"]?.stringValue else { return "wrong-audience" }
        guard claims.exp > now else { return "expired" }
        return claims.iat <= now + RequestWindow.seconds ? "valid" : "not-yet-valid"
    }

    @Test("published keys are judged alike")
    func publishedKeys() throws {
        for entry in try cases("token", kind: "keys") {
            guard ["valid", "invalid-key"].contains(entry.expected) else { continue }
            let document = try JSON(parsing: try entry.bytes("input", "jwks"))
            let members = try #require(document["keys"]?.arrayValue).filter(\.isForTokens)
            let ids = members.compactMap { $0.webKey?.id }
            let isGood = ids.count == members.count && Set(ids).count == ids.count
            #expect(isGood == (entry.expected == "valid"), "\(entry.name)")
        }
    }

    @Test("verdicts are judged alike", arguments: ["verdict", "recorded"])
    func verdicts(file: String) throws {
        for entry in try cases(file, kind: "verdict") {
            let found = try judgedVerdict(entry)
            let isOther = [
                "wrong-account", "wrong-device", "wrong-challenge", "expired", "not-yet-valid",
            ].contains(entry.expected)
            #expect(found == (isOther ? "valid" : entry.expected), "\(entry.name)")
        }
    }

    private func judgedVerdict(_ entry: Case) throws -> String {
        let words = try entry.bytes("keys", "key").parts(between: UInt8(ascii: " "))
        guard words.count == 2, words[0] == SSHPublicKey.algorithm.bytes,
            let blob = Base64.decode(words[1], alphabet: .standard),
            let pinned = try? SSHPublicKey(blob: blob),
            let key = try? P256PublicKey(point: pinned.point.bytes)
        else { return "invalid-key" }
        let text = try entry.binary("input", "statement")
        guard text.count <= Verdict.maximumLength else { return "too-long" }
        let signature = try entry.binary("input", "signature")
        guard (try? SSHSignature(blob: signature)) != nil else { return codeOfBlob(signature) }
        guard try key.verifies(blob: signature, of: text, in: .verdict) else {
            return "bad-signature"
        }
        guard let verdict = try? Verdict(parsing: text) else { return "malformed" }
        guard verdict.audience.bytes == (try entry.bytes("keys", "audience")) else {
            return "wrong-audience"
        }
        if let seconds = entry["expect", "maxAge"]?.integerValue {
            let isGood = VerdictExpectation.isGood(
                issued: verdict.issued.seconds, forSeconds: UInt64(seconds),
                at: UInt64(try entry.now))
            #expect(isGood == (entry.expected == "valid"), "\(entry.name)")
        }
        return verdict.decision == .allow ? "valid" : "denied"
    }

    @Test("signatures on the curve are judged alike")
    func signatures() throws {
        for entry in try cases("curve", kind: "signature") {
            let numbers = try entry.binary("input", "signature")
            let message = try entry.binary("input", "message")
            var isValid = false
            if let key = try? P256PublicKey(point: try entry.binary("keys", "publicKey")),
                let signature = P256Signature(
                    r: [UInt8](numbers.prefix(32)), s: [UInt8](numbers.dropFirst(32)))
            {
                isValid = try key.verifies(signature, message: message)
            }
            #expect(isValid == (entry.expected == "valid"), "\(entry.name)")
        }
    }
}

/// A case of the vectors.
private struct Case {
    let json: JSON

    var name: String { json["name"]?.stringValue ?? "" }
    var expected: String { json["expected"]?.stringValue ?? "" }
    var now: Int64 {
        get throws { try #require(json["now"]?.integerValue) }
    }

    /// A member of a member.
    subscript(outer: String, inner: String) -> JSON? { json[outer]?[inner] }

    /// The UTF-8 bytes of a text.
    func bytes(_ outer: String, _ inner: String) throws -> [UInt8] {
        [UInt8](try #require(self[outer, inner]?.stringValue).utf8)
    }

    /// The bytes that a text is the base64url of.
    func binary(_ outer: String, _ inner: String) throws -> [UInt8] {
        try #require(Base64.decode(try bytes(outer, inner), alphabet: .url))
    }
}

extension JSON {
    /// Whether a member of a JWKS is for tokens of this server.
    fileprivate var isForTokens: Bool {
        self["kty"]?.stringValue == "EC" && self["use"]?.stringValue == "sig"
            && self["alg"]?.stringValue == "ES256"
    }

    /// The key, if it is exactly one that the server could publish.
    fileprivate var webKey: JSONWebKey? {
        let coordinates = ["x", "y"].compactMap { name in
            self[name]?.stringValue.flatMap { Base64.decode([UInt8]($0.utf8), alphabet: .url) }
        }
        guard self["crv"]?.stringValue == "P-256", coordinates.count == 2,
            coordinates.allSatisfy({ $0.count == 32 }),
            let point = try? P256PublicKey(point: [4] + coordinates[0] + coordinates[1]),
            let key = try? JSONWebKey(point),
            self["kid"]?.stringValue == text(key.id)
        else { return nil }
        return key
    }
}

extension HeaderFault {
    fileprivate var code: String {
        switch self {
        case .anotherScheme: "wrong-scheme"
        case .tooLong: "too-long"
        case .malformed: "malformed"
        }
    }
}

/// The text that ASCII bytes are.
private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// The libraries' code for a signature's blob that cannot be parsed.
private func codeOfBlob(_ blob: [UInt8]) -> String {
    blob.count > 512 ? "too-long" : "malformed"
}

extension TokenFault {
    fileprivate var code: String {
        switch self {
        case .tooLong: "too-long"
        case .malformed: "malformed"
        case .unknownHeader: "unknown-header"
        case .badSignature: "bad-signature"
        case .crypto: "unavailable"
        }
    }
}
