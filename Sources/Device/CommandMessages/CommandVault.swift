// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// The lines of `signet vault`.
package enum CommandVault {
    /// The start of the line: which vault.
    package static let vault: Text = "vault"
    /// The start of the line: why it cannot be used.
    package static let trouble: Text = "problem"
    /// The start of the line: the manufacturer.
    package static let maker: Text = "made by"
    /// The start of the line: what opens a key.
    package static let policy: Text = "opens for"
    /// The start of the line: which PCRs new keys are bound to.
    package static let registers: Text = "PCRs"
    /// The start of the line: the storage root key.
    package static let root: Text = "root key"

    /// Which vault, and whether new keys are made in it.
    package static func kind(_ vault: Bytes, isChosen: Bool) -> Text {
        isChosen ? "\(vault): new keys are stored here" : "\(vault)"
    }
}
