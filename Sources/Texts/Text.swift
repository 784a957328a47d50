#if !hasFeature(Embedded)
import Statement
import Wire
#endif

/// A text for people, as UTF-8 bytes; what is filled in cannot change how the line shows.
///
/// Interpolated bytes come from outside: controls, broken UTF-8 and what cannot be seen become
/// `\xNN`.
package struct Text: ExpressibleByStringInterpolation, Equatable, Sendable {
    /// The UTF-8 bytes, without a line end.
    package let bytes: Bytes

    /// A text without anything filled in.
    @inline(never)
    package init(stringLiteral literal: StaticString) {
        bytes = literal.bytes
    }

    /// A text with things filled in.
    @inline(never)
    package init(stringInterpolation interpolation: Interpolation) {
        bytes = interpolation.bytes
    }

    /// A text that comes from outside, made harmless.
    package init(escaping outside: Bytes) {
        bytes = Text.escaped(outside)
    }

    /// Collects the pieces of a text.
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var bytes: Bytes = []

        /// Begins an empty text.
        @inline(never)
        package init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        /// Appends the program's own words.
        @inline(never)
        package mutating func appendLiteral(_ literal: StaticString) {
            bytes.append(contentsOf: literal.bytes)
        }

        /// Appends words from outside, made harmless.
        @inline(never)
        package mutating func appendInterpolation(_ outside: Bytes) {
            bytes.append(contentsOf: Text.escaped(outside))
        }

        /// Appends another text.
        @inline(never)
        package mutating func appendInterpolation(_ text: Text) {
            bytes.append(contentsOf: text.bytes)
        }

        /// Appends a number in decimal.
        @inline(never)
        package mutating func appendInterpolation(number: some UnsignedInteger) {
            bytes.append(contentsOf: Decimal.encode(UInt64(number)))
        }
    }

    /// The type of interpolations.
    package typealias StringInterpolation = Interpolation

    private static func escaped(_ outside: Bytes) -> Bytes {
        Printable.escaping(outside, invisible: true) { byte, text in
            text += [UInt8(ascii: "\\"), UInt8(ascii: "x")] + Hexadecimal.encode([byte])
        }
    }
}
