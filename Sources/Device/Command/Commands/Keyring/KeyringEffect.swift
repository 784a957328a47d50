// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol

/// The login password that opens the keyring, which ends with the last finger, with login by finger,
/// and with a change that no password authorises.
enum KeyringEffect: EffectWords {
    static let holding: StaticString = "keyring"

    static func warnings(_: [ChangeEffectAnswer]) -> [Text] { [KeyringEffectMessages.warning] }
}

/// Messages about the keyring and changes of fingers.
enum KeyringEffectMessages {
    /// Before fingerprint login is turned off, or the fingers change without the password.
    static let warning: Text =
        """
        after this change, a touch will no longer open the keyring, until you run 'signet enable \
        --keyring'
        """
}
