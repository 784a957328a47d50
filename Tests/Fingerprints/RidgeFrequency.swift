// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How close the ridges lie at every place of a finger.
package struct RidgeFrequency: Sendable {
    /// The mean distance from ridge to ridge, in pixels at 500 dpi.
    package let period: Float
    private let waves: [(amplitude: Float, x: Float, y: Float, phase: Float)]

    /// A finger's own field: a mean of 8.4 to 10.4 pixels, and slow changes around it.
    package init(numbers: inout SeededNumbers) {
        period = numbers.uniform(8.4...10.4)
        waves = (0..<4).map { _ in
            (
                amplitude: numbers.uniform(0.02...0.06), x: numbers.around(0.05),
                y: numbers.around(0.05), phase: numbers.around(.pi)
            )
        }
    }

    /// The distance from ridge to ridge in pixels, `x` right of and `y` above the finger's middle.
    package func period(x: Float, y: Float) -> Float {
        period * waves.reduce(1) { $0 + $1.amplitude * sinf($1.x * x + $1.y * y + $1.phase) }
    }
}
