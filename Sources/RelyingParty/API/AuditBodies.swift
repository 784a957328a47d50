// SPDX-License-Identifier: Apache-2.0
import Domain

/// A line of an account's audit trail, as the account's application sees it.
///
/// It has no `detail`, which may say what an administrator did and on whose behalf.
struct AuditLine: Encodable, Sendable {
    let time: Int64
    let event: String
    /// `ok`, `begun`, or the code of a problem.
    let outcome: String
    /// The factor of an accepted touch; nil for all other events and outcomes.
    let factor: String?
    /// The registration's id; nil if none was involved.
    let registration: String?
    /// What the device of that registration calls itself; nil if it has no name.
    let deviceName: DeviceName?
    /// The address that the call came from; nil if it is not known.
    let address: String?
    let agent: String?
    /// The name of the API key of the call; nil if it had none.
    let apiKey: String?
}

/// The newest lines about an account, newest first.
struct AuditLines: Encodable, Sendable {
    let entries: [AuditLine]
}
