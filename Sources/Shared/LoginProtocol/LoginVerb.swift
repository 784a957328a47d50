// SPDX-License-Identifier: Apache-2.0
/// The requests that the PAM module makes; the raw value is the frame's kind.
///
/// `Verb` of CommandProtocol has all requests, these included, and their rules.
package enum LoginVerb: UInt8, CaseIterable, Sendable {
    /// A touch that signs the caller's challenge.
    case authenticate = 1
    /// Reports that a password was accepted in the same login.
    case passwordAccepted = 13
    /// Reports the account's new password.
    case passwordChanged = 24
    /// Asks, once and immediately, whether a proven touch is still valid.
    case confirm = 27
    /// A notice that asked for acknowledgement has been shown; follows a request only.
    case shown = 28
    /// Asks whether to offer enrolment to an account without fingers.
    case offer = 45
}

/// The kinds of the answers that the PAM module reads; the raw value is the frame's kind.
///
/// `AnswerKind` of CommandProtocol has all answers, these included.
package enum LoginAnswerKind: UInt8, CaseIterable, Sendable {
    /// A message for the user while the request continues.
    case notice = 128
    /// Ends `authenticate` with the statement and its signature.
    case assertion = 129
    /// Ends any request: it is denied, with the reason.
    case denial = 130
    /// Ends `confirm`: the touch is still valid.
    case confirmed = 146
}
