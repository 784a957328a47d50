// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// The lines of `signet vault`.
package enum CommandVault {
    /// In front of the line: which one.
    package static let vault: Text = "vault"
    /// In front of the line: why it cannot be used.
    package static let trouble: Text = "problem"
    /// In front of the line: who made it.
    package static let maker: Text = "made by"
    /// In front of the line: what opens a key.
    package static let policy: Text = "opens for"
    /// In front of the line: which PCRs new keys are bound to.
    package static let registers: Text = "PCRs"
    /// In front of the line: the storage root key.
    package static let root: Text = "root key"

    /// Which one, and whether new keys are made in it.
    package static func kind(_ vault: Bytes, isChosen: Bool) -> Text {
        isChosen ? "\(vault): new keys are stored here" : "\(vault)"
    }
}
