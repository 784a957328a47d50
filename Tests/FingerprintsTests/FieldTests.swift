// SPDX-License-Identifier: Apache-2.0
import Fingerprints
import Glibc
import Testing

@Suite("fields of synthetic fingers")
struct FieldTests {
    @Test("a whole finger's turns add up to its class", arguments: RidgePattern.allCases)
    func totalIndex(pattern: RidgePattern) {
        for seed in UInt64(1)...20 {
            var numbers = SeededNumbers(seed: seed)
            let field = OrientationField(pattern: pattern, numbers: &numbers)
            #expect(index(of: field, x: 0, y: 0, radius: 400) == 0)
            let kinds = field.singularities.map(\.kind)
            let (cores, deltas) = (kinds.count { $0 == .core }, kinds.count { $0 == .delta })
            switch pattern {
            case .arch: #expect((cores, deltas) == (0, 0))
            case .tentedArch, .leftLoop, .rightLoop: #expect((cores, deltas) == (1, 1))
            case .whorl, .doubleLoop: #expect((cores, deltas) == (2, 2))
            }
        }
    }

    @Test("directions turn by half a turn around a core, against it around a delta")
    func singularIndex() {
        for pattern in RidgePattern.allCases {
            for seed in UInt64(1)...20 {
                var numbers = SeededNumbers(seed: seed)
                let field = OrientationField(pattern: pattern, numbers: &numbers)
                for point in field.singularities {
                    let turn = index(of: field, x: point.x, y: point.y, radius: 0.5)
                    #expect(turn == (point.kind == .core ? 1 : -1))
                }
            }
        }
    }

    @Test("a left loop has its delta on the right, a right loop on the left")
    func sides() {
        for seed in UInt64(1)...20 {
            for (pattern, side) in [(RidgePattern.leftLoop, Float(1)), (.rightLoop, -1)] {
                var numbers = SeededNumbers(seed: seed)
                let field = OrientationField(pattern: pattern, numbers: &numbers)
                for point in field.singularities where point.kind == .delta {
                    #expect(point.x * side > 0)
                }
            }
        }
    }

    @Test("ridges are as far apart as the fields say, 8 to 11 pixels", arguments: 1...6)
    func ridgePeriod(seed: UInt64) throws {
        // Arches cross columns; where they do so at a slant, ridges are farther apart along them.
        let finger = SyntheticFinger(seed: seed, pattern: .arch)
        let image = finger.impression(0, quality: .careful)
        let places = (0..<9).map { 72 + 10 * $0 }
        let columns = places.map { place in
            rows(of: image, in: 40..<250, columns: place..<(place + 1))
                .flatMap { $0.map(Float.init) }
        }
        let densities = places.flatMap { place in
            (40..<250).map { row in
                let x = Float(place) - Float(image.width - 1) / 2
                let y = Float(image.height - 1) / 2 - Float(row)
                return abs(cosf(finger.orientation.angle(x: x, y: y)))
                    / finger.frequency.period(x: x, y: y)
            }
        }
        let expected = Float(densities.count) / densities.reduce(0, +)
        let period = try #require(Self.period(of: columns))
        #expect((8...11).contains(finger.frequency.period))
        #expect(abs(period / expected - 1) < 0.1)
    }

    /// How often half a turn fits into the turn of the direction on a circle around a place.
    private func index(of field: OrientationField, x: Float, y: Float, radius: Float) -> Int {
        let steps = 720
        var last = field.angle(x: x + radius, y: y)
        var sum = Float(0)
        for step in 1...steps {
            let bearing = 2 * .pi * Float(step) / Float(steps)
            let next = field.angle(x: x + radius * cosf(bearing), y: y + radius * sinf(bearing))
            let change = (next - last) / .pi
            sum += change - change.rounded()
            last = next
        }
        return Int(sum.rounded())
    }

    /// The lag of the first peak of the columns' autocorrelation, by a parabola through it.
    private static func period(of columns: [[Float]]) -> Float? {
        let lags = 0..<18
        let power = lags.map { lag in
            columns.reduce(Float(0)) { sum, column in
                let mean = column.reduce(0, +) / Float(column.count)
                let pairs = zip(column, column.dropFirst(lag))
                return sum
                    + pairs.reduce(0) { $0 + ($1.0 - mean) * ($1.1 - mean) }
                    / Float(column.count - lag)
            }
        }
        guard
            let peak = (6..<15).first(where: {
                power[$0] > power[$0 - 1] && power[$0] >= power[$0 + 1]
            })
        else { return nil }
        let (left, middle, right) = (power[peak - 1], power[peak], power[peak + 1])
        return Float(peak) + (left - right) / (2 * (left - 2 * middle + right))
    }
}

@Suite("seeded numbers")
struct SeededNumbersTests {
    @Test("the stream is SplitMix64's")
    func reference() {
        var numbers = SeededNumbers(seed: 1_234_567)
        let first = (0..<3).map { _ in numbers.next() }
        #expect(
            first == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ])
    }

    @Test("purposes of one seed have streams of their own")
    func purposes() {
        var one = SeededNumbers(seed: 1, purpose: 1)
        var two = SeededNumbers(seed: 1, purpose: 2)
        #expect(one.next() != two.next())
    }

    @Test("numbers keep to their ranges, and have the mean and deviation they say")
    func ranges() {
        var numbers = SeededNumbers(seed: 5)
        var sum = Float(0)
        var squares = Float(0)
        for _ in 0..<20_000 {
            #expect((2...3).contains(numbers.uniform(2...3)))
            #expect((-4...4).contains(numbers.around(4)))
            let normal = numbers.normal()
            sum += normal
            squares += normal * normal
        }
        #expect(abs(sum / 20_000) < 0.03)
        #expect(abs(squares / 20_000 - 1) < 0.05)
    }
}
