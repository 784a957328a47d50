// SPDX-License-Identifier: Apache-2.0
/// A line of an account's audit trail as its application sees it.
///
/// It has no `detail`, which may hold what an administrator did and on behalf of whom.
struct AuditLine: Encodable, Sendable {
    let time: Int64
    let event: String
    /// `ok`, `begun`, or the code of a problem.
    let outcome: String
    /// What proved it; nil unless it was accepted after a touch.
    let factor: String?
    /// nil if no registration was involved.
    let registration: String?
    /// The address that the call came from; nil if it is not known.
    let address: String?
    let agent: String?
}

/// The newest lines about an account, newest first.
struct AuditLines: Encodable, Sendable {
    let entries: [AuditLine]
}
