// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Sealing

extension Denial {
    /// The denial for a vault's error: `platformChanged`, or `vaultUnavailable` with a description.
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
