// SPDX-License-Identifier: Apache-2.0
/// The classes of Henry's system, as far as they differ in their singular points.
package enum RidgePattern: CaseIterable, Sendable {
    case arch
    case tentedArch
    case leftLoop
    case rightLoop
    case whorl
    case doubleLoop

    /// The class of a finger, drawn as often as it occurs in people (Wilson, Candela, Watson 1993).
    static func drawn(from numbers: inout SeededNumbers) -> RidgePattern {
        switch numbers.unit() {
        case ..<0.037: .arch
        case ..<0.066: .tentedArch
        case ..<0.404: .leftLoop
        case ..<0.721: .rightLoop
        case ..<0.93: .whorl
        default: .doubleLoop
        }
    }

    /// Where this finger's ridges turn back (cores) and part (deltas): its class's places, moved.
    func singularities(from numbers: inout SeededNumbers) -> [Singularity] {
        places.map { kind, x, y, limb in
            let reach: Float = kind == .core ? 22 : 36
            var corrections = (0..<8).map { _ in numbers.around(0.3) }
            if let limb {
                let strength = numbers.uniform(0...0.9)
                let lean = limb + numbers.around(0.5)
                for bearing in corrections.indices {
                    let angle = Float(bearing - 4) * .pi / 4
                    corrections[bearing] += strength * Self.parallel(angle - lean)
                }
            }
            return Singularity(
                kind: kind, x: x + numbers.around(reach), y: y + numbers.around(reach),
                corrections: corrections)
        }
    }

    /// Kind, place, and for a core in which direction, from straight down, its ridges leave.
    private var places: [(Singularity.Kind, Float, Float, Float?)] {
        switch self {
        case .arch: []
        case .tentedArch: [(.core, 0, 12, 0), (.delta, 0, -78, nil)]
        case .leftLoop: [(.core, 4, 18, -0.5), (.delta, 76, -80, nil)]
        case .rightLoop: [(.core, -4, 18, 0.5), (.delta, -76, -80, nil)]
        case .whorl:
            [
                (.core, 0, 28, 0), (.core, 0, -18, .pi), (.delta, -88, -88, nil),
                (.delta, 88, -88, nil),
            ]
        case .doubleLoop:
            [
                (.core, -22, 24, 0.4), (.core, 22, -24, .pi + 0.4), (.delta, -88, -88, nil),
                (.delta, 88, -88, nil),
            ]
        }
    }

    /// What the bearing from a core wants added so that the ridges leave it side by side instead
    /// of fanning out: a triangle wave, π/2 at ±π, 0 straight below and above, −π/2 at 0.
    private static func parallel(_ bearing: Float) -> Float {
        let turns = bearing / (2 * .pi)
        return .pi * (2 * abs(turns - turns.rounded()) - 0.5)
    }
}

/// A point around which the ridges' direction turns by half a turn.
package struct Singularity: Sendable {
    /// A core turns the direction with the way around it, a delta against it.
    package enum Kind: Sendable {
        case core
        case delta
    }

    package let kind: Kind
    /// Pixels right of the finger's middle.
    package let x: Float
    /// Pixels above the finger's middle.
    package let y: Float
    /// Vizcaya and Gerhardt's corrections, radians, at eight equidistant bearings from −π on.
    let corrections: [Float]
}
