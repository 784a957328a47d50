// SPDX-License-Identifier: Apache-2.0
/// A finger that does not exist: its ridges depend on nothing but the seed.
package struct SyntheticFinger: Sendable {
    /// The ridge surface's size in pixels at 500 dpi.
    package static let width = 352
    package static let height = 416

    package let seed: UInt64
    package let orientation: OrientationField
    package let frequency: RidgeFrequency
    /// Ridge heights, rows from the top: 1 on a ridge, −1 in a furrow.
    let ridges: [Float]

    /// The class of the finger.
    package var pattern: RidgePattern { orientation.pattern }

    /// The finger of this seed, of a class drawn as often as it occurs in people.
    package init(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed, purpose: 1)
        let pattern = RidgePattern.drawn(from: &numbers)
        self.init(seed: seed, pattern: pattern)
    }

    /// The finger of this seed and class.
    package init(seed: UInt64, pattern: RidgePattern) {
        self.seed = seed
        var numbers = SeededNumbers(seed: seed, purpose: 2)
        orientation = OrientationField(pattern: pattern, numbers: &numbers)
        frequency = RidgeFrequency(numbers: &numbers)
        ridges = Self.grown(
            orientation: orientation, frequency: frequency,
            numbers: SeededNumbers(seed: seed, purpose: 3))
    }

    /// Noise turns into ridges at half the resolution, where it is cheap, and is refined at full.
    private static func grown(
        orientation: OrientationField, frequency: RidgeFrequency, numbers: SeededNumbers
    ) -> [Float] {
        var numbers = numbers
        let (halfWidth, halfHeight) = (width / 2, height / 2)
        let coarse = RidgeFilter(
            width: halfWidth, height: halfHeight, scale: 2, orientation: orientation,
            frequency: frequency)
        var grid = (0..<(halfWidth * halfHeight)).map { _ in numbers.normal() }
        for _ in 0..<coarseRounds {
            grid = coarse.applied(to: grid, gain: 1.6)
        }
        let fine = RidgeFilter(
            width: width, height: height, scale: 1, orientation: orientation, frequency: frequency)
        grid = doubled(grid, width: halfWidth, height: halfHeight)
        for _ in 0..<fineRounds {
            grid = fine.applied(to: grid, gain: 1.6)
        }
        return grid
    }

    private static let coarseRounds = 16
    private static let fineRounds = 2

    /// Every pixel becomes four, between the nearest four by distance (bilinear).
    private static func doubled(_ grid: [Float], width: Int, height: Int) -> [Float] {
        var result: [Float] = []
        result.reserveCapacity(4 * width * height)
        for y in 0..<(2 * height) {
            let near = y / 2
            let far = max(0, min(height - 1, near + (y % 2 == 0 ? -1 : 1)))
            for x in 0..<(2 * width) {
                let beside = max(0, min(width - 1, x / 2 + (x % 2 == 0 ? -1 : 1)))
                let upper = 0.75 * grid[near * width + x / 2] + 0.25 * grid[near * width + beside]
                let lower = 0.75 * grid[far * width + x / 2] + 0.25 * grid[far * width + beside]
                result.append(0.75 * upper + 0.25 * lower)
            }
        }
        return result
    }
}
