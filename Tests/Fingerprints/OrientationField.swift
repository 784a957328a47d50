// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The direction of the ridges at every place of a finger: the zero-pole model with corrections.
///
/// Sources: B. Sherlock, D. Monro, A model for interpreting fingerprint topology (1993);
/// P. Vizcaya, L. Gerhardt, A nonlinear orientation model for global description of fingerprints
/// (1996).
package struct OrientationField: Sendable {
    package let pattern: RidgePattern
    package let singularities: [Singularity]
    private let bow: Float
    private let tilt: Float
    private let swells: [(amplitude: Float, x: Float, y: Float, phase: Float)]

    /// A field of the class, with the finger's own places and deviations.
    package init(pattern: RidgePattern, numbers: inout SeededNumbers) {
        self.pattern = pattern
        singularities = pattern.singularities(from: &numbers)
        bow = pattern == .arch ? numbers.uniform(0.7...1.1) : numbers.uniform(0.1...0.4)
        tilt = numbers.around(0.06)
        swells = (0..<3).map { _ in
            (
                amplitude: numbers.uniform(0.04...0.14), x: numbers.around(0.04),
                y: numbers.around(0.04), phase: numbers.around(.pi)
            )
        }
    }

    /// The ridges' direction in radians, good modulo π, counter-clockwise from the right.
    ///
    /// `x` and `y` count pixels to the right of and above the finger's middle.
    package func angle(x: Float, y: Float) -> Float {
        var sum = Float(0)
        for point in singularities {
            let bearing = atan2f(y - point.y, x - point.x)
            let turned = bearing + Self.correction(point.corrections, bearing: bearing)
            sum += point.kind == .core ? turned : -turned
        }
        let wave = swells.reduce(Float(0)) {
            $0 + $1.amplitude * sinf($1.x * x + $1.y * y + $1.phase)
        }
        return sum / 2 + tilt + wave - arching(x: x, y: y)
    }

    /// Ridges bow over the middle, most in the upper half, and lie flat at the joint below.
    private func arching(x: Float, y: Float) -> Float {
        let side = sinf(max(-1, min(1, x / 130)) * .pi / 2)
        guard pattern == .arch else {
            return bow * side / (1 + expf(-(y - 10) / 40))
        }
        return bow * sinf(max(-1, min(1, x / 110)) * .pi) * expf(-(y + 30) * (y + 30) / 9_000)
            + 0.5 * side / (1 + expf(-(y - 20) / 40))
    }

    private static func correction(_ values: [Float], bearing: Float) -> Float {
        guard !values.isEmpty else { return 0 }
        let place = max(0, (bearing + .pi) / (2 * .pi)) * Float(values.count)
        let index = Int(place)
        let part = place - Float(index)
        return values[index % values.count] * (1 - part)
            + values[(index + 1) % values.count] * part
    }
}
