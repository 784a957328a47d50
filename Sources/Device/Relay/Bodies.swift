// SPDX-License-Identifier: Apache-2.0
import Domain
import JSONFormat
import LoginProtocol
import SignedFormats

/// The body of the request that begins a registration.
///
/// docs/developer/SERVER.md describes all bodies.
struct RegistrationBody: Encodable {
    let code: String
    let device: String
}

/// The body of the request that proves possession of a new key.
struct ProofBody: Encodable {
    let publicKey: String
    let statement: String
    let signature: String
}

/// The body of the request for a challenge.
struct ChallengeBody: Encodable {
    let application: String
    let account: String
    let device: String
    let action: String
}

/// The body with a signed challenge, and for a PAM module's verdict with the module's challenge.
struct SignedBody: Encodable {
    struct Module: Encodable {
        let challenge: String
        let account: String
    }

    let statement: String
    let signature: String
    var module: Module?
}

/// The answer when a registration has begun.
///
/// In this and all other answers, members that are not declared are ignored.
struct BegunBody: Decodable {
    let registration: String
    let account: String
    let application: String
    let audience: String
    let challenge: String
    let expires: UInt64
}

/// The answer with the state of a registration.
struct StateBody: Decodable {
    let status: String
    let fingerprint: String?
}

/// The answer with an issued challenge.
struct ChallengeGiven: Decodable {
    let challenge: String
    let audience: String
    let expires: UInt64
}

/// The answer to an accepted login.
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

/// The part of a login's answer that says whether it was accepted.
///
/// It is decoded separately, so that a refusal is recognised whatever else the answer contains.
struct ValidBody: Decodable {
    let valid: Bool
}

/// A problem document (RFC 9457).
struct ProblemBody: Decodable {
    let code: String
    let remainingAttempts: UInt32?

    /// Whether the code has the form that docs/developer/SERVER.md defines, since it is displayed.
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

func base64(_ bytes: Bytes) -> String {
    String(decoding: Base64.encode(bytes, alphabet: .url), as: UTF8.self)
}

func hexadecimal(_ id: some FixedBytes) -> String {
    String(decoding: id.hexadecimal, as: UTF8.self)
}

/// Decodes base64url without padding; nil for anything else.
func bytes(base64 text: String) -> Bytes? { Base64.decode(Bytes(text.utf8), alphabet: .url) }

extension Challenge {
    /// Decodes base64url without padding; nil unless it is a challenge.
    init?(base64 text: String) {
        guard let bytes = Base64.decode(Bytes(text.utf8), alphabet: .url) else { return nil }
        self.init(bytes)
    }
}

func json(_ value: some Encodable) -> Bytes? {
    try? JSON(encoding: value).encoded()
}

/// Decodes JSON; nil if it is not a value of this type.
func value<Value: Decodable>(_ type: Value.Type, of json: Bytes) -> Value? {
    try? JSON(parsing: json).decoded(as: type)
}
