// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How well a finger is put on the reader, and what the reader makes of it.
package struct ImpressionQuality: Sendable {
    /// Most turn to either side, in degrees.
    package var turn: Float
    /// Most shift in pixels, to the sides and (half as much again) along the finger.
    package var shift: Float
    /// Most displacement by the skin's stretch, in pixels.
    package var stretch: Float
    /// Most change of the ridges' thickness, as a part of their height.
    package var pressure: Float
    /// The deviation of the noise of single pixels, in grey levels.
    package var noise: Float
    /// The part of the finger's oval that touches, 1 for all of it.
    package var contact: ClosedRange<Float>

    /// What a person who is used to the reader gives.
    package static let ordinary = ImpressionQuality(
        turn: 15, shift: 14, stretch: 2.2, pressure: 0.3, noise: 12, contact: 0.9...1.05)
    /// A careful touch of a clean finger.
    package static let careful = ImpressionQuality(
        turn: 5, shift: 5, stretch: 1, pressure: 0.15, noise: 6, contact: 0.98...1.05)
    /// A hasty touch: badly placed, dry or wet. Refused now and then.
    package static let hasty = ImpressionQuality(
        turn: 25, shift: 45, stretch: 4, pressure: 0.6, noise: 32, contact: 0.6...0.8)
}

/// One touch: where the finger lies on the reader's window, and how.
struct FingerContact {
    private let cosine: Float
    private let sine: Float
    private let shiftX: Float
    private let shiftY: Float
    private let waves: [(x: Float, y: Float, phase: Float, toX: Float, toY: Float)]
    let pressure: Float
    let contrast: Float
    let contact: Float

    init(_ quality: ImpressionQuality, numbers: inout SeededNumbers) {
        let turn = numbers.around(quality.turn) * .pi / 180
        cosine = cosf(turn)
        sine = sinf(turn)
        shiftX = numbers.around(quality.shift)
        shiftY = numbers.around(quality.shift * 1.5)
        waves = (0..<3).map { _ in
            (
                x: numbers.around(0.02), y: numbers.around(0.02), phase: numbers.around(.pi),
                toX: numbers.around(quality.stretch) / 2, toY: numbers.around(quality.stretch) / 2
            )
        }
        pressure = numbers.around(quality.pressure)
        contrast = numbers.uniform(0.75...1)
        contact = numbers.uniform(quality.contact)
    }

    /// The place on the finger (right of, above its middle) at a place on the window, in pixels.
    func place(x: Float, y: Float) -> (x: Float, y: Float) {
        let turnedX = cosine * (x - shiftX) + sine * (y - shiftY)
        let turnedY = cosine * (y - shiftY) - sine * (x - shiftX)
        var result = (x: turnedX, y: turnedY)
        for wave in waves {
            let height = sinf(wave.x * turnedX + wave.y * turnedY + wave.phase)
            result.x += wave.toX * height
            result.y += wave.toY * height
        }
        return result
    }

    /// How firmly a place of the finger touches, from 0 (not at all, the reader sees white) to 1.
    func touching(_ place: (x: Float, y: Float)) -> Float {
        let across = place.x / (150 * contact)
        let along = place.y / (190 * contact)
        return max(0, min(1, (1 - (across * across + along * along).squareRoot()) * 12))
    }
}

extension SyntheticFinger {
    /// The reader's window in pixels at 500 dpi.
    package static let windowWidth = 224
    package static let windowHeight = 288

    /// What the reader sees at the finger's `number`th touch: dark ridges on white, always the same
    /// for the same finger, number and quality.
    package func impression(
        _ number: Int, quality: ImpressionQuality = .ordinary
    ) -> GreyImage {
        var numbers = SeededNumbers(
            seed: seed, purpose: 0x1000 &+ UInt64(truncatingIfNeeded: number))
        let touch = FingerContact(quality, numbers: &numbers)
        let (width, height) = (Self.windowWidth, Self.windowHeight)
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            let y = Float(height - 1) / 2 - Float(row)
            for column in 0..<width {
                let place = touch.place(x: Float(column) - Float(width - 1) / 2, y: y)
                let touching = touch.touching(place)
                let noise = quality.noise * numbers.normal()
                let ink = 215 * touch.contrast * inking(place, touch: touch) + noise
                pixels.append(UInt8(max(0, min(255, 250 - touching * ink))))
            }
        }
        return GreyImage(width: width, height: height, row: pixels)
    }

    /// How dark the reader sees a place of the finger that touches, from 0 to 1.
    private func inking(_ place: (x: Float, y: Float), touch: FingerContact) -> Float {
        let height = ridge(x: place.x, y: place.y) + touch.pressure
        return max(0, min(1, 0.5 + 0.75 * height))
    }

    /// The ridge's height at a place, between the four nearest pixels; a furrow outside.
    private func ridge(x: Float, y: Float) -> Float {
        let column = x + Float(Self.width - 1) / 2
        let row = Float(Self.height - 1) / 2 - y
        guard column >= 0, row >= 0, column < Float(Self.width - 1), row < Float(Self.height - 1)
        else { return -1 }
        let (left, top) = (Int(column), Int(row))
        let (right, down) = (column - Float(left), row - Float(top))
        let at = top * Self.width + left
        let upper = ridges[at] * (1 - right) + ridges[at + 1] * right
        let lower = ridges[at + Self.width] * (1 - right) + ridges[at + Self.width + 1] * right
        return upper * (1 - down) + lower * down
    }
}
