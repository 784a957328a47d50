// SPDX-License-Identifier: Apache-2.0
import Posix

/// A password that libpam has just accepted for its account.
///
/// Only `PasswordProof` and `Keyring.passwordChanged` create one; the latter uses it only after
/// libpam has accepted the new password. Functions that take one need not check the password again.
struct VerifiedPassword: Sendable {
    let secret: SecretBytes
    /// The shadow(5) entry from before the check, so that a change in between is noticed later.
    ///
    /// Nil if the account has none that can be read.
    let entry: ShadowEntry?
}
