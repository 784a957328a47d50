// SPDX-License-Identifier: Apache-2.0
/// The request for an operation, or for a login that is approved as one.
struct OperationRequest: Decodable {
    let account: Name
    let template: Name
    /// A value for each placeholder of the template.
    let data: [String: String]?
    /// The only device that may decide it; any of the account if absent.
    let device: ID?
    /// In seconds; at most the template's time, which is also the default.
    let expiresIn: Int64?
    let additional: AdditionalData?
    /// The address of the stranger's browser that a login is begun for; only for logins.
    let visitor: NumericAddress?
}

/// What the application reports about the machine in front of the person.
///
/// Stored with the operation and in the audit trail, but not part of what is signed.
struct AdditionalData: Codable, Equatable, Sendable {
    var address: String?
    var agent: String?
    var device: String?

    /// The same data, cut and made `printable`.
    var printed: AdditionalData {
        AdditionalData(
            address: address.map { printable([UInt8]($0.utf8)) },
            agent: agent.map { printable([UInt8]($0.utf8)) },
            device: device.map { printable([UInt8]($0.utf8)) })
    }
}

/// An operation as reported to its application.
struct OperationState: Encodable, Sendable {
    let operation: ID
    let account: String
    let template: String
    let purpose: TemplatePurpose
    /// The exact text that the device shows and signs.
    let data: String
    let status: OperationStatus
    let failureCount: Int64
    let maxFailureCount: Int64
    let device: ID?
    let created: Int64
    let expires: Int64
    /// When it was decided or ended otherwise than by expiring.
    let decided: Int64?
    /// The registration whose touch decided it.
    let registration: ID?
    /// When the login was confirmed.
    let confirmed: Int64?
    let additional: AdditionalData
}

/// The newest operations of an account, newest first.
struct OperationList: Encodable, Sendable {
    let operations: [OperationState]
}

/// An operation in the list for a device.
struct AwaitedOperation: Encodable, Sendable {
    let operation: ID
    let template: String
    let data: String
    let created: Int64
    let expires: Int64
}

/// An account's operations that a device can decide, oldest first.
struct AwaitedOperations: Encodable, Sendable {
    let operations: [AwaitedOperation]
}

/// An operation as reported to a device that may decide it: all that the statement contains.
struct OperationDetail: Encodable, Sendable {
    let operation: ID
    let application: String
    let audience: String
    let account: String
    let template: String
    /// The exact text to show.
    let data: String
    let challenge: Binary
    let status: OperationStatus
    let failureCount: Int64
    let maxFailureCount: Int64
    let created: Int64
    let expires: Int64
    let decided: Int64?
}

/// The result of a device's decision.
struct DecisionAnswer: Encodable, Sendable {
    let operation: ID
    let status: OperationStatus
    let decided: Int64
}

/// A login that awaits its approval.
struct LoginBegun: Encodable, Sendable {
    let operation: ID
    /// The session secret, returned only here; confirming the login requires it.
    let session: String
    let data: String
    let status: OperationStatus
    let expires: Int64
}

/// The request to confirm a login.
struct ConfirmRequest: Decodable {
    let operation: ID
    let session: String
}
