// SPDX-License-Identifier: Apache-2.0

/// The body of an answer that refuses a request: problem details, RFC 9457.
///
/// The server always writes type, title and status; a reader needs the code alone.
package struct ProblemDocument: Codable, Sendable {
    /// A URN that ends with the code.
    package let type: String?
    /// The message for people.
    package let title: String?
    /// The HTTP status.
    package let status: Int?
    /// The word that programs compare: lower case, with hyphens.
    package let code: String
    /// How many failures are left before the block; nil if the caller may not know.
    package let remainingAttempts: Int64?
    /// The scope that the caller's API key lacks; nil for any other problem.
    package let scope: String?
    /// What of the policy is not fulfilled, a `PolicyRequirement`; nil for any other problem.
    package let requirement: String?

    /// Creates a document; its type follows from the code.
    package init(
        title: String, status: Int, code: String, remainingAttempts: Int64?, scope: String?,
        requirement: String?
    ) {
        type = "urn:signet:problem:\(code)"
        self.title = title
        self.status = status
        self.code = code
        self.remainingAttempts = remainingAttempts
        self.scope = scope
        self.requirement = requirement
    }
}
