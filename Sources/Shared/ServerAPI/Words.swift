// SPDX-License-Identifier: Apache-2.0

/// The status of a registration; the raw values are used in the API and the database.
package enum RegistrationStatus: String, Codable, Sendable {
    /// The key is not proven yet.
    case created = "CREATED"
    /// A person has yet to compare the fingerprint of the key.
    case pendingCommit = "PENDING_COMMIT"
    /// The key can be used.
    case active = "ACTIVE"
    /// It is blocked, by the application or after too many failures.
    case blocked = "BLOCKED"
    /// It was removed for good.
    case removed = "REMOVED"
}

/// The status of an operation; the raw values are used in the API and the database.
///
/// Calls change only operations that are PENDING.
package enum OperationStatus: String, Codable, Sendable {
    /// It awaits a decision.
    case pending = "PENDING"
    /// A touch has approved it.
    case approved = "APPROVED"
    /// A touch has rejected it.
    case rejected = "REJECTED"
    /// The application has withdrawn it.
    case canceled = "CANCELED"
    /// It was not decided in time.
    case expired = "EXPIRED"
    /// Too many wrong signatures were counted.
    case failed = "FAILED"
}

/// The action that a challenge is for; it is invalid for any other action.
package enum ChallengeAction: String, Codable, Sendable {
    /// The proof of a new key.
    case register = "register"
    /// A login.
    case login = "login"
    /// A new MAC token.
    case macToken = "mac-token"
    /// The removal of the registration by its device.
    case remove = "remove"
}

/// What an application requires of where keys are held; the raw values are used in the API and the
/// database.
package enum KeyRequirement: String, Codable, CaseIterable, Sendable {
    /// Nothing.
    case any = "any"
    /// The device must claim that its key is in a TPM.
    case tpm = "tpm"
    /// The device's TPM must have proven it at the registration.
    case attested = "attested"
}

/// What an application requires of Secure Boot; the raw values are used in the API and the database.
package enum BootRequirement: String, Codable, CaseIterable, Sendable {
    /// Nothing.
    case any = "any"
    /// The device must claim that it booted with Secure Boot.
    case on = "on"
    /// The device's TPM must also have proven it at the registration.
    case attested = "attested"
}

/// What a device's TPM has proven at the registration; the raw values are used in the API and the
/// database.
package enum AttestedProperty: String, Codable, CaseIterable, Sendable {
    /// The key was made in this TPM, and never leaves it.
    case key = "key"
    /// The device had booted with Secure Boot.
    case secureBoot = "secure-boot"
}
