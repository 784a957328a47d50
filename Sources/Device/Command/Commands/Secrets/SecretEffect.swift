// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol

/// The secrets, which open no more after a change of fingers.
enum SecretEffect: EffectWords {
    static let holding: StaticString = "secret"

    static func warnings(_ effects: [ChangeEffectAnswer]) -> [Text] {
        effects.map { SecretEffectMessages.warning($0.count ?? 0) }
    }
}

/// Messages about secrets that a change of fingers ends.
enum SecretEffectMessages {
    /// Before an enrolment: how many secrets the change of fingers will end.
    static func warning(_ count: UInt32) -> Text {
        guard count != 1 else {
            return """
                1 secret is sealed to the current fingers: after this change, you will have to set \
                it again
                """
        }
        return """
            \(number: count) secrets are sealed to the current fingers: after this change, you \
            will have to set them again
            """
    }
}
