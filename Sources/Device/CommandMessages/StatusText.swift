// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// The state of an account, in the words of `signet status` and `signet doctor`.
package enum StatusText {
    /// The start of the line: whether a touch opens the keyring.
    package static let keyring: Text = "keyring"

    /// Why the key does not fit the fingers.
    package static func cause(_ status: StatusAnswer) -> Text {
        status.cause?.text ?? "the fingers have changed"
    }

    /// The administrator's lists exclude the account.
    package static func keptOut(_ account: AccountName, setting: Bytes) -> Text {
        "fingerprint login is turned off for \(account) by \(setting) in signet.conf"
    }

    /// Whether a touch opens the keyring, and why not.
    package static func keyring(_ status: StatusAnswer) -> Text {
        switch status.keyring {
        case .on: "opened by a touch at login"
        case .off: "not opened by a touch"
        case .passwordChanged, .fingersChanged, .damaged:
            "not opened by a touch: \(reason(status.keyring))"
        }
    }

    /// Why the login password was dropped, and what to do.
    package static func reason(_ state: KeyringState) -> Text {
        switch state {
        case .passwordChanged:
            "the login password has changed. Run 'signet enable --keyring'"
        case .fingersChanged:
            """
            the fingers or the key have changed, and the password was not given. \
            Run 'signet enable --keyring'
            """
        case .damaged: "the stored password cannot be opened. Run 'signet enable --keyring'"
        case .on, .off: ""
        }
    }
}
