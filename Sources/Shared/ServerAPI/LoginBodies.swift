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

    /// Creates a request from its fields.
    package init(application: Name, account: Name, device: DeviceID, action: ChallengeAction?) {
        self.application = application
        self.account = account
        self.device = device
        self.action = action
    }
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

    /// Creates an answer from its fields.
    package init(challenge: Challenge, audience: String, expires: Int64, policy: DevicePolicy?) {
        self.challenge = challenge
        self.audience = audience
        self.expires = expires
        self.policy = policy
    }
}

/// What an application requires of its devices, whatever the account.
package struct DevicePolicy: Codable, Equatable, Sendable {
    /// The factors that are accepted.
    package let factors: [KeyFactor]
    /// What is required of where keys are held.
    package let keys: KeyRequirement
    /// What is required of Secure Boot.
    package let secureBoot: BootRequirement

    /// Creates a policy from its fields.
    package init(factors: [KeyFactor], keys: KeyRequirement, secureBoot: BootRequirement) {
        self.factors = factors
        self.keys = keys
        self.secureBoot = secureBoot
    }
}

/// A signed challenge, with the PAM module's own challenge if a verdict is requested.
package struct SignedChallengeRequest: Codable, Sendable {
    /// The statement.
    package let statement: Binary
    /// Its signature.
    package let signature: Binary
    /// The module for which a verdict is requested.
    package let module: ModuleRequest?

    /// Creates a request from its fields.
    package init(statement: Binary, signature: Binary, module: ModuleRequest?) {
        self.statement = statement
        self.signature = signature
        self.module = module
    }

    /// The statement with its signature.
    package var proof: SignedText { SignedText(statement: statement, signature: signature) }
}

/// A PAM module's own challenge, for which the verdict is issued.
package struct ModuleRequest: Codable, Sendable {
    /// The module's challenge.
    package let challenge: Challenge
    /// The account's name on the device, which may differ from the one at the server.
    package let account: Name

    /// Creates a request from its fields.
    package init(challenge: Challenge, account: Name) {
        self.challenge = challenge
        self.account = account
    }
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

    /// Creates a verdict from its fields.
    package init(statement: Binary, signature: Binary) {
        self.statement = statement
        self.signature = signature
    }
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

    /// Creates a pair from its fields.
    package init(accessToken: String, tokenType: String, expiresIn: Int64, refreshToken: String) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.refreshToken = refreshToken
    }
}

/// The canonical text of a statement, and its signature as an SSHSIG blob.
package struct SignedText: Codable, Sendable {
    /// The text.
    package let statement: Binary
    /// Its signature.
    package let signature: Binary

    /// Creates a value from both.
    package init(statement: Binary, signature: Binary) {
        self.statement = statement
        self.signature = signature
    }
}
