// SPDX-License-Identifier: Apache-2.0
/// The request for the next pair of tokens.
struct RefreshRequest: Decodable {
    let refreshToken: String
}

/// A request about a token of either kind.
struct TokenRequest: Decodable {
    let token: String
}

/// The answer to a revocation, the same whether or not the token existed (RFC 7009, section 2.2).
struct RevocationAnswer: Encodable, Sendable {}

/// Whether an access token is valid; the field names are those of RFC 7662, section 2.2.
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
    /// The present ones, not those at the time when the token was issued.
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

    /// The answer for an invalid token; the reason is not given.
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

/// The claims of an access token.
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
