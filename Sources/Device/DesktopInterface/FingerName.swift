// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// The names of fingers on the bus, such as `right-index-finger`.
///
/// They differ from those of `signet`, which are shorter.
package enum FingerName {
    /// What a verification may name in place of a finger: whichever is enrolled.
    package static let any = "any"

    /// Returns the name of a finger.
    package static func text(_ finger: Finger) -> String {
        switch finger {
        case .leftThumb: "left-thumb"
        case .leftIndex: "left-index-finger"
        case .leftMiddle: "left-middle-finger"
        case .leftRing: "left-ring-finger"
        case .leftLittle: "left-little-finger"
        case .rightThumb: "right-thumb"
        case .rightIndex: "right-index-finger"
        case .rightMiddle: "right-middle-finger"
        case .rightRing: "right-ring-finger"
        case .rightLittle: "right-little-finger"
        }
    }

    /// Returns the finger with this name; nil for any other text, `any` included.
    package static func finger(named name: String) -> Finger? {
        Finger.allCases.first { text($0) == name }
    }

    /// Returns the finger with this name, for a request that must name one.
    ///
    /// - Throws: `invalidFingername` for any other text, `any` included.
    package static func required(_ name: String) throws(DesktopFault) -> Finger {
        guard let finger = finger(named: name) else {
            throw DesktopFault(.invalidFingername, "there is no finger with this name")
        }
        return finger
    }
}
