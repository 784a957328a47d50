// SPDX-License-Identifier: Apache-2.0
/// What is sent for an operation, or for a login that is approved as one.
struct OperationRequest: Decodable {
    let account: Name
    let template: Name
    /// A value for each placeholder of the template.
    let data: [String: String]?
    /// The one device that may decide it.
    let device: ID?
    /// Seconds; the template's, if nothing is said, and never more.
    let expiresIn: Int64?
    let additional: AdditionalData?
}

/// What the application tells of the machine that a person sits at: kept for whoever looks into
/// it later, never part of what is signed.
struct AdditionalData: Codable, Equatable, Sendable {
    var address: String?
    var agent: String?
    var device: String?

    /// Cut, and without what could forge a line.
    var printed: AdditionalData {
        AdditionalData(
            address: address.map { printable([UInt8]($0.utf8)) },
            agent: agent.map { printable([UInt8]($0.utf8)) },
            device: device.map { printable([UInt8]($0.utf8)) })
    }
}

/// An operation as its application sees it.
struct OperationState: Encodable, Sendable {
    let operation: ID
    let account: String
    let template: String
    /// The exact text that is shown.
    let data: String
    let status: OperationStatus
    let failureCount: Int64
    let maxFailureCount: Int64
    let device: ID?
    let created: Int64
    let expires: Int64
    /// When it was approved or rejected, or ended otherwise than by time.
    let decided: Int64?
    /// Whose touch decided it.
    let registration: ID?
    /// When its login was confirmed.
    let confirmed: Int64?
    let additional: AdditionalData
}

/// An operation in a device's list.
struct AwaitedOperation: Encodable, Sendable {
    let operation: ID
    let template: String
    let data: String
    let created: Int64
    let expires: Int64
}

/// What awaits an account on a device, the oldest first.
struct AwaitedOperations: Encodable, Sendable {
    let operations: [AwaitedOperation]
}

/// An operation as the device sees it that is to decide it: all that the statement carries.
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

/// What a device's decision came to.
struct DecisionAnswer: Encodable, Sendable {
    let operation: ID
    let status: OperationStatus
    let decided: Int64
}

/// A login that awaits its approval.
struct LoginBegun: Encodable, Sendable {
    let operation: ID
    /// The secret of the session that began it, told once: who confirms must show it.
    let session: String
    let data: String
    let status: OperationStatus
    let expires: Int64
}

/// What is sent to confirm a login.
struct ConfirmRequest: Decodable {
    let operation: ID
    let session: String
}
