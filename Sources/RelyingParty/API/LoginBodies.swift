// SPDX-License-Identifier: Apache-2.0
import Domain

/// The request for a challenge.
struct ChallengeRequest: Decodable {
    let application: Name
    let account: Name
    let device: DeviceID
    /// The purpose of the challenge; a login if absent.
    let action: ChallengeAction?
}

/// A challenge, valid once and for 60 seconds.
struct ChallengeAnswer: Encodable, Sendable {
    let challenge: Challenge
    let audience: String
    let expires: Int64
}

/// A signed challenge, with the PAM module's own challenge if a verdict is requested.
struct SignedChallengeRequest: Decodable {
    let statement: Binary
    let signature: Binary
    let module: ModuleRequest?

    var proof: SignedText { SignedText(statement: statement, signature: signature) }
}

/// A PAM module's own challenge, for which the verdict is issued.
struct ModuleRequest: Decodable, Sendable {
    let challenge: Challenge
    /// The account's name on the device, which may differ from the one at the server.
    let account: Name
}

/// The answer to a successful login.
struct LoginAnswer: Encodable, Sendable {
    let valid: Bool
    let application: String
    let account: String
    let registration: RegistrationID
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

/// The tokens issued at a login or refresh, in the fields of RFC 6749 but in camel case.
struct TokenPair: Encodable, Sendable {
    let accessToken: String
    let tokenType: String
    /// The lifetime of the access token, in seconds.
    let expiresIn: Int64
    let refreshToken: String
}

/// The canonical text of a statement, and its signature as an SSHSIG blob.
struct SignedText: Decodable {
    let statement: Binary
    let signature: Binary
}
