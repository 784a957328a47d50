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
    /// A new password key for the registration.
    case passwordKey = "password-key"
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

/// What of an application's policy is not fulfilled; the raw values are used in the API.
package enum PolicyRequirement: String, Codable, CaseIterable, Sendable {
    /// The factor that confirms, or has confirmed, is not accepted.
    case factor = "factor"
    /// The key is not where the policy wants it, or that is not proven.
    case keys = "keys"
    /// The device did not boot with Secure Boot, or that is not proven.
    case secureBoot = "secure-boot"
}

/// What a device's TPM has proven at the registration; the raw values are used in the API and the
/// database.
package enum AttestedProperty: String, Codable, CaseIterable, Sendable {
    /// The key was made in this TPM, and never leaves it.
    case key = "key"
    /// The device had booted with Secure Boot.
    case secureBoot = "secure-boot"
}

/// A factor that a registered key stands for; the raw values are used in the API and in statements.
package enum KeyFactor: String, CaseIterable, Codable, Sendable {
    /// A touch, signed with the registration's fingerprint key.
    case fingerprint = "fingerprint"
    /// The account's password on the device, signed with the registration's password key.
    case password = "password"

    /// The factor that a statement's line `factor` names; nil for any other word.
    package init?(line: [UInt8]) {
        self.init(rawValue: String(decoding: line, as: UTF8.self))
    }
}

/// The factors that confirm something; the raw values are used in the API and the database.
package enum AcceptedFactors: String, Codable, Sendable {
    /// A touch only.
    case fingerprint = "fingerprint"
    /// The password only.
    case password = "password"
    /// A touch or the password.
    case either = "either"
    /// A touch and the password, of the same device, in any order.
    case both = "both"

    /// Whether a statement with this factor is accepted, alone or as one of two.
    package func accepts(_ factor: KeyFactor) -> Bool {
        switch self {
        case .fingerprint: factor == .fingerprint
        case .password: factor == .password
        case .either, .both: true
        }
    }
}
