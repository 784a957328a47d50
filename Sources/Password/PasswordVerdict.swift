// SPDX-License-Identifier: Apache-2.0
/// What a password check found. Only `right` proves anything.
package enum PasswordVerdict: Equatable, Sendable {
    case right
    case wrong
    /// The account is unknown, or may not log in.
    case denied
    /// The account has expired.
    case accountExpired
    /// The password has expired: it has to be changed first.
    case passwordExpired
    /// The check could not be made: a broken stack, a crash, a time limit.
    case fault

    /// The exit codes are none that a crash, a stray `exit(0)` or a shell produces.
    private static let codes: [(verdict: PasswordVerdict, code: Int32)] = [
        (.right, 80), (.wrong, 81), (.denied, 82), (.fault, 83),
        (.accountExpired, 84), (.passwordExpired, 85),
    ]

    /// The exit code that tells it to the parent.
    package var exitCode: Int32 {
        Self.codes.first { $0.verdict == self }?.code ?? 83
    }

    /// What an exit code tells; anything unheard of is a fault.
    package init(exitCode: Int32) {
        self = Self.codes.first { $0.code == exitCode }?.verdict ?? .fault
    }
}
