// SPDX-License-Identifier: Apache-2.0
/// What a server's policy requires and this device does not fulfil.
///
/// A denial for `serverRefused` has the code as its `subject`.
package enum UnmetRequirement: CaseIterable, Sendable {
    /// The policy accepts another factor only.
    case factor
    /// The policy requires another protection of the key.
    case keys
    /// The policy requires Secure Boot.
    case secureBoot

    /// The code, as in docs/developer/PROTOCOL.md.
    package var code: StaticString {
        switch self {
        case .factor: "policy-factor"
        case .keys: "policy-keys"
        case .secureBoot: "policy-secure-boot"
        }
    }
}
