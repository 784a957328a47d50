// SPDX-License-Identifier: Apache-2.0

/// The use of a template's operations: approving a payment must not log anyone in.
enum TemplatePurpose: String, Codable, Sendable {
    case operation = "operation"
    case login = "login"
}
