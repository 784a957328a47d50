// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import JSONFormat
import LoginMessages
import LoginProtocol

/// The signing key, which a change of fingers ends.
enum SigningKeyEffect: EffectWords {
    static let holding: StaticString = "signingKey"

    static func warnings(_: [ChangeEffectAnswer]) -> [Text] {
        [SigningKeyEffectMessages.signingWarning]
    }

    static func ended(_: [ChangeEffectAnswer]) -> [Text] {
        [SigningKeyEffectMessages.signingEnded]
    }

    static func members(_ effects: [ChangeEffectAnswer]) -> [(String, JSON)] {
        [("signingEnded", .bool(!effects.isEmpty))]
    }
}

/// Messages about a signing key that a change of fingers ends.
enum SigningKeyEffectMessages {
    /// Before a change of fingers: the signing key will end.
    static let signingWarning: Text =
        """
        this change ends the signing key: afterwards, you will have to create another one and \
        distribute its public key
        """

    /// After a change of fingers: the signing key has ended.
    static let signingEnded: Text =
        """
        the signing key has ended: run 'signet enable --signing', and distribute the public key \
        that 'signet sign --public-key' then shows. Existing signatures remain valid
        """
}
