// SPDX-License-Identifier: Apache-2.0
/// The body of a call that needs nothing but its path: an object without members.
struct EmptyRequest: Decodable {
    private enum CodingKeys: CodingKey {}

    init(from decoder: any Decoder) throws {
        _ = try decoder.container(keyedBy: CodingKeys.self)
    }
}

/// The request to exchange a refresh token for the next pair of tokens.
struct RefreshRequest: Decodable {
    let refreshToken: String
}

/// The request to revoke or introspect a token.
struct TokenRequest: Decodable {
    let token: String
}

/// The answer to a revocation, which is the same for an unknown token (RFC 7009, section 2.2).
struct RevocationAnswer: Encodable, Sendable {}

/// Whether an access token is valid now; the field names are those of RFC 7662, section 2.2.
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
    /// The present roles and flags, not those at the time when the token was issued.
    let roles: [String]?
    let flags: [String]?
    /// The application that the token is for; not in RFC 7662, as the two after it.
    let application: String?
    /// The application's own roles.
    let applicationRoles: [String]?
    /// How many failures are left until the registration is BLOCKED.
    let remainingAttempts: Int64?
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
        case application = "application"
        case applicationRoles = "applicationRoles"
        case remainingAttempts = "remainingAttempts"
        case tokenType = "token_type"
    }

    /// The answer for an invalid token; it gives no reason.
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
        application = nil
        applicationRoles = nil
        remainingAttempts = nil
        tokenType = nil
    }
}

/// The claims of an access token: `iss` to `jti` as in RFC 7519, `amr` with values of RFC 8176.
struct AccessClaims: Codable, Sendable {
    let iss: String
    let sub: String
    let aud: String
    let iat: Int64
    let exp: Int64
    let jti: String
    /// The token session's id.
    let sid: String
    /// The registration's id.
    let reg: String
    let amr: [String]
    let roles: [String]
    let flags: [String]
}
