// SPDX-License-Identifier: Apache-2.0
/// The request for a challenge.
struct ChallengeRequest: Decodable {
    let application: Name
    let account: Name
    let device: ID
    /// What the challenge is for; a login if absent.
    let action: ChallengeAction?
}

/// A challenge, valid once and for a minute.
struct ChallengeAnswer: Encodable, Sendable {
    let challenge: Binary
    let audience: String
    let expires: Int64
}

/// A signed challenge, with the PAM module's own challenge if it needs a verdict.
struct SignedChallengeRequest: Decodable {
    let statement: Binary
    let signature: Binary
    let module: ModuleRequest?

    var proof: SignedText { SignedText(statement: statement, signature: signature) }
}

/// A PAM module's own challenge, to which the verdict is bound.
struct ModuleRequest: Decodable, Sendable {
    /// 32 bytes.
    let challenge: Binary
    /// The account's name on the device.
    let account: Name
}

/// The answer to a successful login.
struct LoginAnswer: Encodable, Sendable {
    let valid: Bool
    let application: String
    let account: String
    let registration: ID
    let status: RegistrationStatus
    let factor: String
    let remainingAttempts: Int64
    let flags: [String]
    let roles: [String]
    let tokens: TokenPair
    let verdict: SignedVerdict?
}

/// A verdict for a PAM module: a canonical text, signed in the namespace `verdict@signet`.
struct SignedVerdict: Encodable, Sendable {
    let statement: Binary
    let signature: Binary
}

/// The tokens of a login or a refresh.
struct TokenPair: Encodable, Sendable {
    let accessToken: String
    let tokenType: String
    /// The lifetime of the access token, in seconds.
    let expiresIn: Int64
    let refreshToken: String
}

/// A statement's canonical text with its signature, an SSHSIG blob.
struct SignedText: Decodable {
    let statement: Binary
    let signature: Binary
}
