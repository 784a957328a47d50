// SPDX-License-Identifier: Apache-2.0
/// A grey picture: rows from top to bottom, 0 is black, exactly `width * height` bytes.
package struct GreyImage: Equatable, Sendable {
    package let width: Int
    package let height: Int
    package let pixels: [UInt8]

    /// An image of the given pixels; nil where their number is not `width * height`.
    package init?(width: Int, height: Int, pixels: [UInt8]) {
        guard width > 0, height > 0, pixels.count == width * height else { return nil }
        self.init(width: width, height: height, row: pixels)
    }

    init(width: Int, height: Int, row pixels: [UInt8]) {
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// The image with black and white exchanged.
    package var inverted: GreyImage {
        GreyImage(width: width, height: height, row: pixels.map { 255 - $0 })
    }

    /// The image as a binary portable greymap (netpbm's pgm(5), P5, 8 bits).
    package func portableGreymap() -> [UInt8] {
        Array("P5\n\(width) \(height)\n255\n".utf8) + pixels
    }
}
