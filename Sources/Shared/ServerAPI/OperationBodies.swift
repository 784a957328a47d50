// SPDX-License-Identifier: Apache-2.0
import Domain

/// An operation in the list of a device; the challenge is only in `OperationDetail`.
package struct PendingOperation: Codable, Sendable {
    /// The operation's id.
    package let operation: OperationID
    /// The template's name.
    package let template: String
    /// The exact text to show.
    package let data: String
    /// When it was created, in seconds since 1970.
    package let created: Int64
    /// When it expires, in seconds since 1970.
    package let expires: Int64
}

/// The pending operations that a device may decide, oldest first.
package struct PendingOperations: Codable, Sendable {
    /// The operations.
    package let operations: [PendingOperation]
}

/// An operation, as reported to a device that may decide it: everything that it has to sign.
package struct OperationDetail: Codable, Sendable {
    /// The operation's id.
    package let operation: OperationID
    /// The application's name.
    package let application: String
    /// The audience to sign for.
    package let audience: String
    /// The account's name at the server.
    package let account: String
    /// The template's name.
    package let template: String
    /// The exact text to show.
    package let data: String
    /// The challenge to sign.
    package let challenge: Challenge
    /// Its status.
    package let status: OperationStatus
    /// How many wrong signatures were counted.
    package let failureCount: Int64
    /// How many wrong signatures end it.
    package let maxFailureCount: Int64
    /// When it was created, in seconds since 1970.
    package let created: Int64
    /// When it expires, in seconds since 1970.
    package let expires: Int64
    /// When it was decided, in seconds since 1970; nil if it was not.
    package let decided: Int64?
    /// The factors that approve it; nil from a server that knows only touches.
    package let factors: AcceptedFactors?
    /// The factor that approves it next, where both are required and the other was given; else nil.
    package let missing: KeyFactor?

    /// Creates a value from its fields.
    package init(
        operation: OperationID, application: String, audience: String, account: String,
        template: String, data: String, challenge: Challenge, status: OperationStatus,
        failureCount: Int64, maxFailureCount: Int64, created: Int64, expires: Int64,
        decided: Int64?, factors: AcceptedFactors, missing: KeyFactor?
    ) {
        self.factors = factors
        self.missing = missing
        self.operation = operation
        self.application = application
        self.audience = audience
        self.account = account
        self.template = template
        self.data = data
        self.challenge = challenge
        self.status = status
        self.failureCount = failureCount
        self.maxFailureCount = maxFailureCount
        self.created = created
        self.expires = expires
        self.decided = decided
    }
}

/// The status after a device's decision.
package struct DecisionAnswer: Codable, Sendable {
    /// The operation's id.
    package let operation: OperationID
    /// Its status.
    package let status: OperationStatus
    /// When the decision was accepted, in seconds since 1970.
    package let decided: Int64
    /// The factor that is still missing where both are required; the status is then PENDING.
    package let missing: KeyFactor?
    /// How many failures are left until the registration is BLOCKED; nil from an older server.
    package let remainingAttempts: Int64?
    /// The application whose operation it is; nil from an older server.
    package let application: String?
    /// The application's own roles; nil from an older server.
    package let applicationRoles: [String]?

    /// Creates an answer from its fields.
    package init(
        operation: OperationID, status: OperationStatus, decided: Int64, missing: KeyFactor? = nil,
        remainingAttempts: Int64, application: String, applicationRoles: [String]
    ) {
        self.missing = missing
        self.remainingAttempts = remainingAttempts
        self.application = application
        self.applicationRoles = applicationRoles
        self.operation = operation
        self.status = status
        self.decided = decided
    }
}
