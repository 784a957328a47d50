// SPDX-License-Identifier: Apache-2.0
/// What is sent for the next pair of tokens.
struct RefreshRequest: Decodable {
    let refreshToken: String
}

/// A token, of either kind.
struct TokenRequest: Decodable {
    let token: String
}

/// The tokens are of no use any more, whatever they were: RFC 7009, section 2.2.
struct RevocationAnswer: Encodable, Sendable {}

/// Whether an access token holds; the names are those of RFC 7662, section 2.2.
struct IntrospectionAnswer: Encodable, Sendable {
    let active: Bool
    let iss: String?
    let sub: String?
    let aud: String?
    let iat: Int64?
    let exp: Int64?
    let jti: String?
    let sid: String?
    let reg: String?
    let amr: [String]?
    /// As they are now, and not when the token was made.
    let roles: [String]?
    let flags: [String]?
    let tokenType: String?

    private enum CodingKeys: String, CodingKey {
        case active = "active"
        case iss = "iss"
        case sub = "sub"
        case aud = "aud"
        case iat = "iat"
        case exp = "exp"
        case jti = "jti"
        case sid = "sid"
        case reg = "reg"
        case amr = "amr"
        case roles = "roles"
        case flags = "flags"
        case tokenType = "token_type"
    }

    /// It does not hold: why, is not told.
    static let inactive = IntrospectionAnswer()

    private init() {
        active = false
        iss = nil
        sub = nil
        aud = nil
        iat = nil
        exp = nil
        jti = nil
        sid = nil
        reg = nil
        amr = nil
        roles = nil
        flags = nil
        tokenType = nil
    }
}

/// What an access token says.
struct AccessClaims: Codable, Sendable {
    let iss: String
    let sub: String
    let aud: String
    let iat: Int64
    let exp: Int64
    let jti: String
    /// The session of tokens.
    let sid: String
    /// The registration.
    let reg: String
    let amr: [String]
    let roles: [String]
    let flags: [String]
}
