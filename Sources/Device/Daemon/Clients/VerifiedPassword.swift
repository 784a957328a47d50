// SPDX-License-Identifier: Apache-2.0
import Posix

/// A password that libpam has just accepted for its account.
///
/// Only `PasswordProof` and the change of a password make one.
struct VerifiedPassword: Sendable {
    let secret: SecretBytes
    /// The shadow(5) entry from before the check, so that a change in between is noticed later; nil
    /// if the account has none that can be read.
    let entry: ShadowEntry?
}
