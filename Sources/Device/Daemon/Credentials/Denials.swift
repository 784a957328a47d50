// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Sealing

// Decides what a user is told when a vault fails. A fault that the user can act on has its own
// reason; any other is reported with a description.
extension Denial {
    /// Creates the denial for a vault's error.
    ///
    /// That is `platformChanged` if the machine's boot state differs from the one that the key was
    /// sealed to, otherwise `vaultUnavailable` with a description of at most `Limit.text` bytes.
    ///
    /// - Parameter mismatches: the number of fingers that did not match before the error.
    init(of error: VaultError, mismatches: UInt8 = 0) {
        switch error {
        case .trouble(.platformChanged): self.init(.platformChanged, mismatches: mismatches)
        case .doesNotOpen, .malformed, .crypto, .trouble:
            self.init(
                .vaultUnavailable, subject: Bytes(error.description.utf8.prefix(Limit.text)),
                mismatches: mismatches)
        }
    }
}
