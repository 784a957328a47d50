// SPDX-License-Identifier: Apache-2.0
/// What a back end sends of a request that it received.
struct AuthenticationRequest: Decodable {
    /// The value of the request's header `Authorization`.
    let authorization: TextBytes
    let method: TextBytes
    /// What was asked for, as the device names it.
    let resource: TextBytes
    /// SHA-256 of the exact body.
    let body: Binary
}

/// A text, as its bytes in UTF-8: what is compared with what was signed is compared as bytes.
struct TextBytes: Decodable, Sendable {
    let bytes: [UInt8]

    /// From bytes that are UTF-8.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(from decoder: any Decoder) throws {
        bytes = [UInt8](try decoder.singleValueContainer().decode(String.self).utf8)
    }
}

/// Whether a request is whose it says, and what is known of them.
struct AuthenticationAnswer: Encodable, Sendable {
    let valid: Bool
    /// Why it is not valid.
    let code: String?
    /// How many are left until the registration is blocked, where something was counted.
    let remainingAttempts: Int64?
    let application: String?
    let account: String?
    let registration: ID?
    let device: ID?
    let status: RegistrationStatus?
    let factor: String?
    let flags: [String]?
    let roles: [String]?

    /// It is not valid; nothing else is told.
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

/// A signed challenge for a MAC token; its purpose is the token's name.
struct MACTokenRequest: Decodable {
    let statement: Binary
    let signature: Binary
    /// Seconds.
    let expiresIn: Int64?

    var proof: SignedText { SignedText(statement: statement, signature: signature) }
}

/// A MAC token; its secret is told once.
struct MACTokenAnswer: Encodable, Sendable {
    let token: ID
    let name: String
    /// 32 bytes.
    let secret: Binary
    let audience: String
    let expires: Int64
}

/// A MAC token without its secret.
struct MACTokenState: Encodable, Sendable {
    let token: ID
    let name: String
    let created: Int64
    let expires: Int64
    let revoked: Bool
}

/// The MAC tokens of a registration.
struct MACTokenList: Encodable, Sendable {
    let tokens: [MACTokenState]
}
