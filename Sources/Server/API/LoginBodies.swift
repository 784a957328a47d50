// SPDX-License-Identifier: Apache-2.0
/// What is sent for a challenge.
struct ChallengeRequest: Decodable {
    let application: Name
    let account: Name
    let device: ID
    /// What it is for; a login, if nothing is said.
    let action: ChallengeAction?
}

/// A challenge, good once and for a minute.
struct ChallengeAnswer: Encodable, Sendable {
    let challenge: Binary
    let audience: String
    let expires: Int64
}

/// A signed challenge, and what a PAM module wants a verdict for.
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

/// A login that was accepted.
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

/// A verdict for a PAM module: canonical text, signed in the namespace `verdict@signet`.
struct SignedVerdict: Encodable, Sendable {
    let statement: Binary
    let signature: Binary
}

/// What a login gives.
struct TokenPair: Encodable, Sendable {
    let accessToken: String
    let tokenType: String
    /// Seconds.
    let expiresIn: Int64
    let refreshToken: String
}

/// A challenge's answer as it is sent: the statement's text, and the blob of its signature.
struct SignedText: Decodable {
    let statement: Binary
    let signature: Binary
}
