// SPDX-License-Identifier: Apache-2.0
import ServerAPI

/// What a template says about the factors that approve its operations; the raw values are stored.
enum TemplateFactors: String, CaseIterable, Sendable {
    /// What the application's policy accepts when an operation is decided.
    case policy = "policy"
    case fingerprint = "fingerprint"
    case password = "password"
    case either = "either"
    case both = "both"

    /// The factors that the template names itself; nil if it leaves them to the policy.
    var named: AcceptedFactors? {
        switch self {
        case .policy: nil
        case .fingerprint: .fingerprint
        case .password: .password
        case .either: .either
        case .both: .both
        }
    }

    /// Whether the template itself accepts a password, alone or as one of two.
    var acceptPasswords: Bool { named?.accepts(.password) ?? false }
}
