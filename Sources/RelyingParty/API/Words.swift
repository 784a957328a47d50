// SPDX-License-Identifier: Apache-2.0

/// The status of a registration; the raw values are part of API and database.
enum RegistrationStatus: String, Codable, Sendable {
    case created = "CREATED"
    case pendingCommit = "PENDING_COMMIT"
    case active = "ACTIVE"
    case blocked = "BLOCKED"
    case removed = "REMOVED"
}

/// The status of an operation; the raw values are part of API and database.
enum OperationStatus: String, Codable, Sendable {
    case pending = "PENDING"
    case approved = "APPROVED"
    case rejected = "REJECTED"
    case canceled = "CANCELED"
    case expired = "EXPIRED"
    case failed = "FAILED"
}

/// What a challenge is for; a challenge for one action is invalid for any other.
enum ChallengeAction: String, Codable, Sendable {
    case register = "register"
    case login = "login"
    case macToken = "mac-token"
    case remove = "remove"
}

/// What a template's operations are for: approving a payment must not log anyone in.
enum TemplatePurpose: String, Codable, Sendable {
    case operation = "operation"
    case login = "login"
}
