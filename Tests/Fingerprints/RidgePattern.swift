/// The classes of Henry's system, as far as they differ in their singular points.
package enum RidgePattern: CaseIterable, Sendable {
    case arch
    case tentedArch
    case leftLoop
    case rightLoop
    case whorl
    case doubleLoop

    /// The class of a finger, drawn as often as it occurs in people (Wilson, Candela and Watson 1993).
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

    /// Where ridges turn back (cores) and part (deltas), in this finger: each class's places, moved.
    func singularities(from numbers: inout SeededNumbers) -> [Singularity] {
        let places: [(Singularity.Kind, Float, Float)] =
            switch self {
            case .arch: []
            case .tentedArch: [(.core, 0, 12), (.delta, 0, -72)]
            case .leftLoop: [(.core, 4, 18), (.delta, 72, -76)]
            case .rightLoop: [(.core, -4, 18), (.delta, -72, -76)]
            case .whorl: [(.core, 0, 26), (.core, 0, -16), (.delta, -84, -84), (.delta, 84, -84)]
            case .doubleLoop:
                [(.core, -22, 22), (.core, 22, -22), (.delta, -84, -84), (.delta, 84, -84)]
            }
        return places.map { kind, x, y in
            Singularity(
                kind: kind, x: x + numbers.around(9), y: y + numbers.around(9),
                corrections: (0..<8).map { _ in numbers.around(0.22) })
        }
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
