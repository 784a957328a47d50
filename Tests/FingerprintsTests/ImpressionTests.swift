// SPDX-License-Identifier: Apache-2.0
import Fingerprints
import Testing

@Suite("impressions of synthetic fingers")
struct ImpressionTests {
    private let finger = SyntheticFinger(seed: 7)

    @Test("equal seeds and numbers give equal images")
    func repeatable() {
        #expect(SyntheticFinger(seed: 7).impression(3) == finger.impression(3))
    }

    @Test("another seed gives another finger, also next to it and in the upper half of the bits")
    func otherSeeds() {
        let image = finger.impression(0)
        for seed: UInt64 in [6, 8, 7 | 1 << 63] {
            let other = SyntheticFinger(seed: seed, pattern: finger.pattern).impression(0)
            #expect(difference(image, other) > 25)
        }
    }

    @Test("impressions of one finger differ from each other")
    func impressionsDiffer() {
        let images = (0..<4).map { finger.impression($0) }
        for (index, image) in images.enumerated() {
            for other in images.dropFirst(index + 1) { #expect(difference(image, other) > 10) }
        }
    }

    @Test("the seed decides the finger's class, unless it is named")
    func classes() {
        #expect(SyntheticFinger(seed: 7).pattern == SyntheticFinger(seed: 7).pattern)
        for pattern in RidgePattern.allCases {
            #expect(SyntheticFinger(seed: 7, pattern: pattern).pattern == pattern)
        }
    }

    @Test("an image is as large as the window, with dark ridges in a white surround")
    func polarity() {
        for quality in [ImpressionQuality.ordinary, .careful, .hasty] {
            let image = finger.impression(1, quality: quality)
            #expect(image.width == SyntheticFinger.windowWidth)
            #expect(image.height == SyntheticFinger.windowHeight)
            #expect(image.pixels.count == image.width * image.height)
            let white = image.pixels.count { $0 == 250 }
            let dark = image.pixels.count { $0 < 110 }
            #expect(white < image.pixels.count * 3 / 4)
            #expect(dark > image.pixels.count / 12)
        }
        // A hasty touch covers a part of the window; the corners are not touched.
        let hasty = finger.impression(1, quality: .hasty)
        #expect(hasty.pixels.count { $0 == 250 } > hasty.pixels.count / 6)
    }

    @Test("ridges and furrows take about equal parts where the finger touches")
    func balance() {
        let image = finger.impression(0, quality: .careful)
        let middle = rows(of: image, in: 100..<190, columns: 60..<160).flatMap(\.self)
        let dark = middle.count { $0 < 145 }
        #expect((middle.count * 3 / 10...middle.count * 7 / 10).contains(dark))
    }

    /// The mean difference of the pixels, in grey levels.
    private func difference(_ image: GreyImage, _ other: GreyImage) -> Int {
        zip(image.pixels, other.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            / image.pixels.count
    }
}

@Suite("grey images")
struct GreyImageTests {
    @Test("pixels must be as many as the size says")
    func sizes() {
        #expect(GreyImage(width: 2, height: 2, pixels: [0, 1, 2, 3]) != nil)
        #expect(GreyImage(width: 2, height: 2, pixels: [0, 1, 2]) == nil)
        #expect(GreyImage(width: 2, height: 2, pixels: [0, 1, 2, 3, 4]) == nil)
        #expect(GreyImage(width: 0, height: 0, pixels: []) == nil)
        #expect(GreyImage(width: -2, height: -2, pixels: [0, 1, 2, 3]) == nil)
    }

    @Test("a portable greymap has its header, and the pixels as they are")
    func portableGreymap() throws {
        let image = try #require(GreyImage(width: 3, height: 1, pixels: [0, 128, 255]))
        #expect(image.portableGreymap() == Array("P5\n3 1\n255\n".utf8) + [0, 128, 255])
    }

    @Test("inverting exchanges black and white, and inverting twice restores the image")
    func inversion() throws {
        let image = try #require(GreyImage(width: 3, height: 1, pixels: [0, 128, 255]))
        #expect(image.inverted.pixels == [255, 127, 0])
        #expect(image.inverted.inverted == image)
    }
}

/// A cut-out of an image, row by row.
func rows(of image: GreyImage, in rows: Range<Int>, columns: Range<Int>) -> [[UInt8]] {
    rows.map { row in columns.map { image.pixels[row * image.width + $0] } }
}
