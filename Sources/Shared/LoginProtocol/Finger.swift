// SPDX-License-Identifier: Apache-2.0
/// The ten fingers; the raw value is libfprint's `FpFinger`, also on the wire.
package enum Finger: UInt8, CaseIterable, Sendable {
    case leftThumb = 1
    case leftIndex = 2
    case leftMiddle = 3
    case leftRing = 4
    case leftLittle = 5
    case rightThumb = 6
    case rightIndex = 7
    case rightMiddle = 8
    case rightRing = 9
    case rightLittle = 10

    /// The name that users type and read, for example `right-index`.
    package var name: StaticString {
        switch self {
        case .leftThumb: "left-thumb"
        case .leftIndex: "left-index"
        case .leftMiddle: "left-middle"
        case .leftRing: "left-ring"
        case .leftLittle: "left-little"
        case .rightThumb: "right-thumb"
        case .rightIndex: "right-index"
        case .rightMiddle: "right-middle"
        case .rightRing: "right-ring"
        case .rightLittle: "right-little"
        }
    }
}
