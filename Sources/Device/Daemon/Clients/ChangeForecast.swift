// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import State

/// What the user was told before a change of fingers.
///
/// The change is refused if this is no longer true when it takes effect.
struct ChangeForecast: Equatable {
    /// What kind of change it is.
    let change: ForetoldChange
    /// The prints that it will change; nil if they could not be read.
    ///
    /// Not the enrolment's state: what has ended with that is no reason to refuse.
    let prints: Set<PrintID>?
    /// What it will do to what is sealed to them.
    let effects: [ChangeEffectAnswer]

    /// Whether these effects were all foretold, each on as many things or more.
    func covers(_ effects: [ChangeEffectAnswer]) -> Bool {
        effects.allSatisfy { effect in
            self.effects.contains {
                $0.holding == effect.holding && $0.subject == effect.subject
                    && $0.name == effect.name && $0.stays == effect.stays
                    && ($0.count ?? 0) >= (effect.count ?? 0)
            }
        }
    }
}

/// A change of an account's fingers that is only foretold.
struct ForetoldChange: Equatable {
    /// Whether the account's password will authorise it; root gives none.
    let isAuthorized: Bool
    /// Whether a finger will be enrolled after it.
    let leavesFinger: Bool
}
