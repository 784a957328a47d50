import CFprint

/// One of the ten fingers, by the name that commands and records use.
package enum Finger: String, CaseIterable, Sendable {
    case leftThumb = "left-thumb"
    case leftIndex = "left-index"
    case leftMiddle = "left-middle"
    case leftRing = "left-ring"
    case leftLittle = "left-little"
    case rightThumb = "right-thumb"
    case rightIndex = "right-index"
    case rightMiddle = "right-middle"
    case rightRing = "right-ring"
    case rightLittle = "right-little"

    /// The finger of a number as templates hold it: 1 to 10 (`FpFinger`); nil for any other.
    init?(code: UInt8) {
        guard code >= 1, code <= Finger.allCases.count else { return nil }
        self = Finger.allCases[Int(code) - 1]
    }

    var code: FpFinger {
        let index = Finger.allCases.firstIndex(of: self) ?? 0
        return FpFinger(rawValue: UInt32(index) + FP_FINGER_LEFT_THUMB.rawValue)
    }
}
