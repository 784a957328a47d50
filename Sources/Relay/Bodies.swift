// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import LoginProtocol
import SignedFormats

/// What is sent to a server; docs/developer/SERVER.md tells each.
struct RegistrationBody: Encodable {
    let code: String
    let device: String
}

/// The proof of a new key.
struct ProofBody: Encodable {
    let publicKey: String
    let statement: String
    let signature: String
}

/// For a challenge.
struct ChallengeBody: Encodable {
    let application: String
    let account: String
    let device: String
    let action: String
}

/// A signed challenge.
struct SignedBody: Encodable {
    struct Module: Encodable {
        let challenge: String
        let account: String
    }

    let statement: String
    let signature: String
    var module: Module?
}

/// What comes back; members that are not named here are passed over.
struct BegunBody: Decodable {
    let registration: String
    let account: String
    let application: String
    let audience: String
    let challenge: String
    let expires: UInt64
}

/// A registration's state.
struct StateBody: Decodable {
    let status: String
    let fingerprint: String?
}

/// A challenge.
struct ChallengeGiven: Decodable {
    let challenge: String
    let audience: String
    let expires: UInt64
}

/// An accepted login.
struct LoginBody: Decodable {
    struct Tokens: Decodable {
        let accessToken: String
        let expiresIn: UInt32
        let refreshToken: String?
    }

    struct Verdict: Decodable {
        let statement: String
        let signature: String
    }

    let valid: Bool
    let tokens: Tokens
    let verdict: Verdict?
}

/// Whether a login was accepted, where nothing else may stand beside it.
struct ValidBody: Decodable {
    let valid: Bool
}

/// A problem document (RFC 9457).
struct ProblemBody: Decodable {
    let code: String
    let remainingAttempts: UInt32?

    /// Whether the code is one word of the kind that docs/developer/SERVER.md has: it is shown to people.
    var isWellFormed: Bool {
        (1...Limit.code).contains(code.utf8.count)
            && code.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

/// Bytes as base64url without padding.
func base64(_ bytes: Bytes) -> String {
    String(decoding: Base64.encode(bytes, .url), as: UTF8.self)
}

/// Bytes as hexadecimal digits in lower case.
func hexadecimal(_ bytes: Bytes) -> String {
    String(decoding: Hexadecimal.encode(bytes), as: UTF8.self)
}

/// The bytes of a base64url text; nil for anything else.
func bytes(base64 text: String) -> Bytes? { Base64.decode(Bytes(text.utf8), .url) }

/// A value's JSON.
func json(_ value: some Encodable) -> Bytes? {
    guard let data = try? JSONEncoder().encode(value) else { return nil }
    return Bytes(data)
}

/// A value of JSON; nil for anything else.
func value<Value: Decodable>(_ type: Value.Type, of json: Bytes) -> Value? {
    try? JSONDecoder().decode(type, from: Data(json))
}
