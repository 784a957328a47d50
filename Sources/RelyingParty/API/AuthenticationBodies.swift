// SPDX-License-Identifier: Apache-2.0
/// The body with which a back end asks about a request that it received.
struct AuthenticationRequest: Decodable {
    /// The value of the request's `Authorization` header.
    let authorization: TextBytes
    let method: TextBytes
    /// The request target as the device names it.
    let resource: TextBytes
    /// SHA-256 of the exact body.
    let body: Binary
}

/// A string as its UTF-8 bytes, because it is compared bytewise with what was signed.
struct TextBytes: Decodable, Sendable {
    let bytes: [UInt8]

    /// Creates it from bytes, which must be UTF-8.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(from decoder: any Decoder) throws {
        bytes = [UInt8](try decoder.singleValueContainer().decode(String.self).utf8)
    }
}

/// Whether a request's code is valid, and if so, the device and account behind it.
struct AuthenticationAnswer: Encodable, Sendable {
    let valid: Bool
    /// Why it is not valid; nil if it is.
    let code: String?
    /// How many failures are left until the registration is BLOCKED; nil unless one was counted.
    let remainingAttempts: Int64?
    let application: String?
    let account: String?
    let registration: ID?
    let device: ID?
    let status: RegistrationStatus?
    let factor: String?
    let flags: [String]?
    let roles: [String]?

    /// The answer for an invalid code, which contains nothing but the reason.
    init(refusedFor problem: Problem) {
        valid = false
        code = problem.code
        remainingAttempts = problem.remainingAttempts
        application = nil
        account = nil
        registration = nil
        device = nil
        status = nil
        factor = nil
        flags = nil
        roles = nil
    }
}

/// A signed challenge for a MAC token; the statement's purpose is the token's name.
struct MACTokenRequest: Decodable {
    let statement: Binary
    let signature: Binary
    /// In seconds.
    let expiresIn: Int64?

    var proof: SignedText { SignedText(statement: statement, signature: signature) }
}

/// A new MAC token; the secret is returned only here.
struct MACTokenAnswer: Encodable, Sendable {
    let token: ID
    let name: String
    /// 32 bytes.
    let secret: Binary
    let audience: String
    let expires: Int64
}

struct MACTokenState: Encodable, Sendable {
    let token: ID
    let name: String
    let created: Int64
    let expires: Int64
    let revoked: Bool
}

struct MACTokenList: Encodable, Sendable {
    let tokens: [MACTokenState]
}
