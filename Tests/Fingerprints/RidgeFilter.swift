// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A bank of oriented band-pass (Gabor) kernels, and which of them rules each pixel of a finger.
///
/// Filtering noise with it again and again grows ridges that follow the orientation field, with
/// minutiae where they cannot (Cappelli, Maio, Maltoni: SFinGe, 2000).
struct RidgeFilter {
    /// Kernels are this many directions times this many periods.
    private static let directions = 48
    private static let periods = 6
    private static let lanes = 8

    let width: Int
    let height: Int
    private let radius: Int
    private let chunks: Int
    private let kernels: [SIMD8<Float>]
    private let choice: [Int32]

    /// A filter for a grid whose pixels are `scale` master pixels wide.
    init(
        width: Int, height: Int, scale: Float, orientation: OrientationField,
        frequency: RidgeFrequency
    ) {
        self.width = width
        self.height = height
        radius = Int((11 / scale).rounded(.up)) + (scale > 1 ? 1 : 0)
        chunks = (2 * radius + Self.lanes) / Self.lanes
        let range: ClosedRange<Float> = (frequency.period * 0.85)...(frequency.period * 1.15)
        kernels = Self.bank(radius: radius, chunks: chunks, scale: scale, range: range)
        choice = Self.choices(
            width: width, height: height, scale: scale, range: range, orientation: orientation,
            frequency: frequency)
    }

    /// The grid filtered once; responses pass through a soft limit so that amplitudes stay near 1.
    func applied(to grid: [Float], gain: Float) -> [Float] {
        let stride = width + chunks * Self.lanes
        let padded = padding(grid, stride: stride)
        let source = unsafe padded.span.bytes
        let bank = kernels.span
        var result: [Float] = []
        result.reserveCapacity(width * height)
        for y in 0..<height {
            for x in 0..<width {
                let sum = correlation(
                    source, at: y * stride + x, stride: stride, bank, choice[y * width + x])
                let response = gain * sum
                result.append(response / (1 + response * response).squareRoot())
            }
        }
        return result
    }

    /// The sum of products of one kernel and the pixels from `start` on, as many as it covers.
    @inline(__always)
    private func correlation(
        _ source: RawSpan, at start: Int, stride: Int, _ bank: Span<SIMD8<Float>>, _ index: Int32
    ) -> Float {
        let rows = 2 * radius + 1
        let size = MemoryLayout<Float>.stride
        var sum = SIMD8<Float>.zero
        for row in 0..<rows {
            let kernel = (Int(index) * rows + row) * chunks
            let offset = (start + row * stride) * size
            for chunk in 0..<chunks {
                let pixels = unsafe source.unsafeLoadUnaligned(
                    fromByteOffset: offset + chunk * Self.lanes * size, as: SIMD8<Float>.self)
                sum += bank[kernel + chunk] * pixels
            }
        }
        return sum.sum()
    }

    private func padding(_ grid: [Float], stride: Int) -> [Float] {
        var padded = [Float](repeating: 0, count: stride * (height + 2 * radius + 1))
        for y in 0..<height {
            let start = (y + radius) * stride + radius
            padded.replaceSubrange(
                start..<(start + width), with: grid[(y * width)..<((y + 1) * width)])
        }
        return padded
    }

    private static func bank(
        radius: Int, chunks: Int, scale: Float, range: ClosedRange<Float>
    ) -> [SIMD8<Float>] {
        var bank: [SIMD8<Float>] = []
        bank.reserveCapacity(directions * periods * (2 * radius + 1) * chunks)
        for level in 0..<periods {
            let part = Float(level) / Float(periods - 1)
            let period = range.lowerBound + part * (range.upperBound - range.lowerBound)
            for direction in 0..<directions {
                let angle = Float(direction) * .pi / Float(directions)
                let weights = kernel(
                    radius: radius, width: chunks * lanes, period: period / scale, angle: angle)
                for start in stride(from: 0, to: weights.count, by: lanes) {
                    bank.append(SIMD8(weights[start..<(start + lanes)]))
                }
            }
        }
        return bank
    }

    /// A kernel without response to even grey and with response 1 to a grating of its own period.
    private static func kernel(radius: Int, width: Int, period: Float, angle: Float) -> [Float] {
        var window = [Float](repeating: 0, count: width * (2 * radius + 1))
        var wave = window
        let across = 0.42 * period
        let along = 0.62 * period
        for row in 0...(2 * radius) {
            for column in 0...(2 * radius) {
                let x = Float(column - radius)
                let y = Float(radius - row)
                let u = y * cosf(angle) - x * sinf(angle)
                let v = x * cosf(angle) + y * sinf(angle)
                let at = row * width + column
                window[at] =
                    expf(-(u * u) / (2 * across * across) - (v * v) / (2 * along * along))
                wave[at] = cosf(2 * .pi * u / period)
            }
        }
        let total = window.reduce(0, +)
        let mean = zip(window, wave).reduce(0) { $0 + $1.0 * $1.1 } / total
        let weights = zip(window, wave).map { $0 * ($1 - mean) }
        let response = zip(weights, wave).reduce(0) { $0 + $1.0 * $1.1 }
        return weights.map { $0 / response }
    }

    private static func choices(
        width: Int, height: Int, scale: Float, range: ClosedRange<Float>,
        orientation: OrientationField, frequency: RidgeFrequency
    ) -> [Int32] {
        var choice: [Int32] = []
        choice.reserveCapacity(width * height)
        for row in 0..<height {
            for column in 0..<width {
                let x = (Float(column) - Float(width - 1) / 2) * scale
                let y = (Float(height - 1) / 2 - Float(row)) * scale
                let turns = orientation.angle(x: x, y: y) / .pi
                let part = (turns - turns.rounded(.down)) * Float(directions)
                let direction = Int(part.rounded()) % directions
                let period = frequency.period(x: x, y: y)
                let place = (period - range.lowerBound) / (range.upperBound - range.lowerBound)
                let level = Int((max(0, min(1, place)) * Float(periods - 1)).rounded())
                choice.append(Int32(level * directions + direction))
            }
        }
        return choice
    }
}
