// SPDX-License-Identifier: Apache-2.0
import Posix

/// A password that the account's own check has just called right.
struct VerifiedPassword: Sendable {
    let secret: SecretBytes
    /// What shadow(5) said before the check: so a change meanwhile shows later.
    let entry: ShadowEntry?
}
