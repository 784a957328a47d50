// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol

/// The ssh keys, which outlive a change of fingers that the password authorises.
enum SSHKeyEffect: EffectWords {
    static let holding: StaticString = "sshKey"

    static func warnings(_ effects: [ChangeEffectAnswer]) -> [Text] {
        effects.map { effect in
            let count = effect.count ?? 0
            return effect.stays
                ? SSHKeyEffectMessages.sshKeysStay(count)
                : SSHKeyEffectMessages.sshKeysWarning(count)
        }
    }
}

/// Messages about ssh keys and changes of fingers.
enum SSHKeyEffectMessages {
    /// Before a change of fingers with the password: the ssh keys stay, for the new fingers too.
    static func sshKeysStay(_ count: UInt32) -> Text {
        guard count != 1 else {
            return """
                1 ssh key stays usable after this change, by every finger that is enrolled then: \
                the password vouches for it
                """
        }
        return """
            \(number: count) ssh keys stay usable after this change, by every finger that is \
            enrolled then: the password vouches for it
            """
    }

    /// Before a change of fingers without the password, or of the last finger: the ssh keys will be
    /// destroyed.
    static func sshKeysWarning(_ count: UInt32) -> Text {
        guard count != 1 else {
            return """
                1 ssh key will be destroyed by this change: afterwards, make another one with \
                'signet ssh new', and give its public key to your servers
                """
        }
        return """
            \(number: count) ssh keys will be destroyed by this change: afterwards, make others with \
            'signet ssh new', and give their public keys to your servers
            """
    }

    /// After a change of fingers: the ssh keys that open to the fingers as they are now.
    static func sshKeysKept(_ count: UInt32) -> Text {
        count == 1
            ? "1 ssh key can be used with the fingers that are enrolled now"
            : "\(number: count) ssh keys can be used with the fingers that are enrolled now"
    }

    /// After a change of fingers: the ssh keys that it has destroyed.
    static func sshKeysEnded(_ count: UInt32) -> Text {
        guard count != 1 else {
            return """
                1 ssh key is destroyed: see 'signet ssh list', make another one with 'signet ssh \
                new', and give its public key to your servers
                """
        }
        return """
            \(number: count) ssh keys are destroyed: see 'signet ssh list', make others with 'signet \
            ssh new', and give their public keys to your servers
            """
    }
}
