// SPDX-License-Identifier: Apache-2.0

/// The status of a registration; the raw values are used in the API and the database.
enum RegistrationStatus: String, Codable, Sendable {
    case created = "CREATED"
    case pendingCommit = "PENDING_COMMIT"
    case active = "ACTIVE"
    case blocked = "BLOCKED"
    case removed = "REMOVED"
}

/// The status of an operation; the raw values are used in the API and the database.
///
/// Calls change only operations that are PENDING.
enum OperationStatus: String, Codable, Sendable {
    case pending = "PENDING"
    case approved = "APPROVED"
    case rejected = "REJECTED"
    case canceled = "CANCELED"
    case expired = "EXPIRED"
    case failed = "FAILED"
}

/// The action that a challenge is for; it is invalid for any other action.
enum ChallengeAction: String, Codable, Sendable {
    case register = "register"
    case login = "login"
    case macToken = "mac-token"
    case remove = "remove"
}

/// The use of a template's operations: approving a payment must not log anyone in.
enum TemplatePurpose: String, Codable, Sendable {
    case operation = "operation"
    case login = "login"
}
