// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol

/// Messages of `signet enroll` and `signet delete` about keys that a change of fingers ends.
package enum CommandAffectedKeys {
    /// Before a change of fingers: a registration will end.
    package static func warning(server: ServerURL) -> Text {
        """
        after this change you will have to register at \(server) again: have a new activation code \
        ready for 'signet enable --server \(server)'
        """
    }
    /// Before a change of fingers: a registration's MAC tokens will end.
    package static func warning(tokens: Bytes, of server: ServerURL) -> Text {
        "this change ends these MAC tokens of \(server): \(tokens)"
    }
    /// Before a change of fingers: the signing key will end.
    package static let signingWarning: Text =
        """
        this change ends the signing key: afterwards, you will have to create another one and \
        distribute its public key
        """

    /// After a change of fingers: a registration has ended.
    package static func ended(server: ServerURL) -> Text {
        """
        the registration at \(server) has ended: run 'signet enable --server \(server)' with a new \
        activation code
        """
    }
    /// After a change of fingers: a registration's MAC tokens have ended.
    package static func ended(tokens: Bytes, of server: ServerURL) -> Text {
        """
        these MAC tokens of \(server) have ended: \(tokens). Run 'signet mac-token add \(server) \
        NAME' after you have registered there again
        """
    }
    /// After a change of fingers: the signing key has ended.
    package static let signingEnded: Text =
        """
        the signing key has ended: run 'signet enable --signing', and distribute the public key \
        that 'signet sign --public-key' then shows. Existing signatures remain valid
        """
}
