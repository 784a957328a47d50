// SPDX-License-Identifier: Apache-2.0
import Domain

/// The request for a challenge.
package struct ChallengeRequest: Codable, Sendable {
    /// The application's name.
    package let application: Name
    /// The account's name at the server.
    package let account: Name
    /// The device that will answer.
    package let device: DeviceID
    /// The purpose of the challenge; a login if absent.
    package let action: ChallengeAction?
}

/// A challenge, valid once and for 60 seconds.
package struct ChallengeAnswer: Codable, Sendable {
    /// The challenge.
    package let challenge: Challenge
    /// The audience to sign for.
    package let audience: String
    /// When it expires, in seconds since 1970.
    package let expires: Int64
    /// What an answer must fulfil, so that a device need not ask for a touch in vain; nil if
    /// nothing is required, or from a server that does not say.
    package let policy: DevicePolicy?
}

/// What an application requires of its devices, whatever the account.
package struct DevicePolicy: Codable, Equatable, Sendable {
    /// The factors that are accepted.
    package let factors: [KeyFactor]
    /// What is required of where keys are held.
    package let keys: KeyRequirement
    /// What is required of Secure Boot.
    package let secureBoot: BootRequirement
}

/// A signed challenge, with the PAM module's own challenge if a verdict is requested.
package struct SignedChallengeRequest: Codable, Sendable {
    /// The statement.
    package let statement: Binary
    /// Its signature.
    package let signature: Binary
    /// The module for which a verdict is requested.
    package let module: ModuleRequest?

    /// The statement with its signature.
    package var proof: SignedText { SignedText(statement: statement, signature: signature) }
}

/// A PAM module's own challenge, for which the verdict is issued.
package struct ModuleRequest: Codable, Sendable {
    /// The module's challenge.
    package let challenge: Challenge
    /// The account's name on the device, which may differ from the one at the server.
    package let account: Name
}

/// The answer to a successful login.
package struct AcceptedLogin: Codable, Sendable {
    /// Whether the login was accepted; always true.
    package let valid: Bool
    /// The application's name.
    package let application: String
    /// The application's own roles; nil from a server of an earlier release.
    package let applicationRoles: [String]?
    /// The account's name at the server.
    package let account: String
    /// The registration whose key has signed.
    package let registration: RegistrationID
    /// Its status.
    package let status: RegistrationStatus
    /// The factor that was shown: `fingerprint`, `password`, or `both`.
    package let factor: String
    /// How many failures are left before the block.
    package let remainingAttempts: Int64
    /// The account's and the registration's flags.
    package let flags: [String]
    /// The account's roles.
    package let roles: [String]
    /// The tokens of the session that has begun.
    package let tokens: TokenPair
    /// The verdict, if one was requested.
    package let verdict: SignedVerdict?

    /// Creates an answer from its fields.
    package init(
        application: String, applicationRoles: [String], account: String,
        registration: RegistrationID, status: RegistrationStatus, factor: String,
        remainingAttempts: Int64, flags: [String], roles: [String], tokens: TokenPair,
        verdict: SignedVerdict?
    ) {
        valid = true
        self.application = application
        self.applicationRoles = applicationRoles
        self.account = account
        self.registration = registration
        self.status = status
        self.factor = factor
        self.remainingAttempts = remainingAttempts
        self.flags = flags
        self.roles = roles
        self.tokens = tokens
        self.verdict = verdict
    }
}

/// The part of a login's answer that says whether it was accepted.
///
/// Devices decode it separately, so that a refusal is recognised whatever else the answer has.
package struct LoginVerdict: Decodable, Sendable {
    /// Whether the login was accepted.
    package let valid: Bool
}

/// A verdict for a PAM module: a canonical text, signed in the namespace `verdict@signet`.
package struct SignedVerdict: Codable, Sendable {
    /// The text.
    package let statement: Binary
    /// Its signature.
    package let signature: Binary
}

/// The tokens issued at a login or refresh, in the fields of RFC 6749 but in camel case.
package struct TokenPair: Codable, Sendable {
    /// The access token, a JWT.
    package let accessToken: String
    /// `Bearer`.
    package let tokenType: String
    /// The lifetime of the access token, in seconds.
    package let expiresIn: Int64
    /// The refresh token, valid once.
    package let refreshToken: String
}

/// The canonical text of a statement, and its signature as an SSHSIG blob.
package struct SignedText: Codable, Sendable {
    /// The text.
    package let statement: Binary
    /// Its signature.
    package let signature: Binary
}
