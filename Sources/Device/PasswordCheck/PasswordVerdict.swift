// SPDX-License-Identifier: Apache-2.0
/// The result of a password check.
///
/// Only `right` proves anything. The result is passed from the child to the daemon as an exit code.
package enum PasswordVerdict: Equatable, Sendable {
    case right
    case wrong
    /// The account is unknown, or may not log in.
    case denied
    /// The account has expired.
    case accountExpired
    /// The password has expired and must be changed first.
    case passwordExpired
    /// The check could not be made, for example because of a broken stack, a crash, or a time
    /// limit.
    case fault

    /// Exit codes that no crash, stray `exit(0)` or shell produces, so that only a check that ran
    /// to its end can be `right`.
    private static let codes: [(verdict: PasswordVerdict, code: Int32)] = [
        (.right, 80), (.wrong, 81), (.denied, 82), (.fault, 83),
        (.accountExpired, 84), (.passwordExpired, 85),
    ]

    /// The exit code that reports the verdict to the parent.
    package var exitCode: Int32 {
        Self.codes.first { $0.verdict == self }?.code ?? 83
    }

    /// Returns the verdict for an exit code; `fault` for any unknown one.
    package init(exitCode: Int32) {
        self = Self.codes.first { $0.code == exitCode }?.verdict ?? .fault
    }
}
