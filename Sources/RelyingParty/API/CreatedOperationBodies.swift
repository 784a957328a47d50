// SPDX-License-Identifier: Apache-2.0
import Domain
import ServerAPI

/// The request for an operation, or for a login that is approved as one.
struct OperationRequest: Decodable {
    let account: Name
    let template: Name
    /// A value for each placeholder of the template.
    let data: [String: String]?
    /// The only device that may decide; any device of the account if absent.
    let device: DeviceID?
    /// How long it stays pending, in seconds; at most the template's time, which is the default.
    let expiresIn: Int64?
    let additional: AdditionalData?
    /// The address of the visitor's browser for which a login is begun; only for logins.
    let visitor: NumericAddress?
}

/// The application's data about the machine in front of the person.
///
/// It is stored with the operation and in the audit trail, but is not part of the signed text.
struct AdditionalData: Codable, Equatable, Sendable {
    var address: String?
    var agent: String?
    var device: String?

    /// This data with each text cut to 128 bytes and made `printable`.
    var printed: AdditionalData {
        AdditionalData(
            address: address.map { printable([UInt8]($0.utf8)) },
            agent: agent.map { printable([UInt8]($0.utf8)) },
            device: device.map { printable([UInt8]($0.utf8)) })
    }
}

/// An operation, as reported to the application that created it.
struct OperationReport: Encodable, Sendable {
    let operation: OperationID
    let account: String
    let template: String
    let purpose: TemplatePurpose
    /// The exact text that the device shows and signs.
    let data: String
    let status: OperationStatus
    let failureCount: Int64
    let maxFailureCount: Int64
    let device: DeviceID?
    let created: Int64
    let expires: Int64
    /// When it was decided or ended, other than by expiring.
    let decided: Int64?
    /// The registration whose touch decided it.
    let registration: RegistrationID?
    /// What the device of that registration calls itself; nil if it has no name.
    let deviceName: DeviceName?
    /// Where the call came from that decided it; nil if no device has decided it.
    let approver: Approver?
    /// The factors that approve it, if its template names them; nil if the policy decides.
    let factors: AcceptedFactors?
    /// How it was decided: `fingerprint`, `password` or `both`; nil if no device has decided it.
    let factor: String?
    /// When the login was confirmed.
    let confirmed: Int64?
    let additional: AdditionalData
}

/// Where the call came from that approved or rejected an operation.
struct Approver: Encodable, Sendable {
    /// The address; nil if it is not known.
    let address: String?
    /// The user agent, as the program that called has stated it; nil if it has stated none.
    let agent: String?
}

/// The newest operations of an account, newest first.
struct OperationList: Encodable, Sendable {
    let operations: [OperationReport]
}

/// A login that awaits its approval; nothing in it shows whether it was only pretended.
struct LoginBegun: Encodable, Sendable {
    let operation: OperationID
    /// The session secret, returned only here and needed to confirm the login.
    let session: String
    let data: String
    let status: OperationStatus
    let expires: Int64
}

/// The request to confirm an approved login.
struct ConfirmLoginRequest: Decodable {
    let operation: OperationID
    let session: String
}
