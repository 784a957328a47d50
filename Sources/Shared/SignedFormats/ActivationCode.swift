// SPDX-License-Identifier: Apache-2.0
/// The reason why typed text is not an activation code.
package enum ActivationCodeFault: Error, Equatable {
    /// It has too few or too many characters.
    case length
    /// It has a character that codes do not use.
    case character
    /// The check character is wrong, so something was mistyped.
    case mistyped
}

/// The code that starts a registration at a server: `XXXXX-XXXXX-XXXXX-XXXXX`, 95 random bits.
///
/// A code has 19 random characters of Crockford's base32 alphabet (without I, L, O and U) and one
/// check character. The check character is a checksum over GF(32) that detects every single
/// mistyped character and every swap of two characters, so most typing errors are reported without
/// asking the server. It protects against mistakes only: whether a code is valid, only the server
/// knows.
package struct ActivationCode: Equatable, Sendable {
    /// The number of random bytes that make a code.
    package static let randomCount = symbolCount - 1

    private static let symbolCount = 20
    private static let groupCount = 5
    /// The longest accepted text in bytes.
    private static let maximumLength = 64
    private static let alphabet: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

    /// Twenty numbers below 32, the checksum last.
    private let symbols: [UInt8]

    /// Creates a code from 19 random bytes, of which the five low bits each are used; nil for
    /// another count.
    package init?(random: [UInt8]) {
        guard random.count == ActivationCode.randomCount else { return nil }
        let data = random.map { $0 & 31 }
        symbols = data + [ActivationCode.check(data)]
    }

    /// Parses a code as a user typed it.
    ///
    /// Upper and lower case are equal; hyphens and spaces are ignored wherever they are; I and L
    /// are read as 1, and O as 0. Throws `.length` for more than 64 bytes or a number of characters
    /// other than 20, `.character` for a character outside the alphabet, and `.mistyped` for a
    /// wrong check character.
    package init(typed: [UInt8]) throws(ActivationCodeFault) {
        guard typed.count <= ActivationCode.maximumLength else { throw .length }
        var symbols: [UInt8] = []
        for byte in typed where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            guard let symbol = ActivationCode.symbol(byte) else { throw .character }
            symbols.append(symbol)
        }
        guard symbols.count == ActivationCode.symbolCount else { throw .length }
        guard ActivationCode.check([UInt8](symbols.dropLast())) == symbols.last else {
            throw .mistyped
        }
        self.symbols = symbols
    }

    /// The canonical form, which is the one that is displayed and hashed: upper case, in groups of
    /// five.
    package var text: [UInt8] {
        let alphabet = ActivationCode.alphabet.bytes
        var text: [UInt8] = []
        for (index, symbol) in symbols.enumerated() {
            if index > 0, index % ActivationCode.groupCount == 0 {
                text.append(UInt8(ascii: "-"))
            }
            text.append(alphabet[Int(symbol)])
        }
        return text
    }

    private static func symbol(_ byte: UInt8) -> UInt8? {
        let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        let upper = isLower ? byte - 32 : byte
        switch upper {
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        case UInt8(ascii: "O"): return 0
        default: return alphabet.bytes.firstIndex(of: upper).map { UInt8($0) }
        }
    }

    /// The check symbol, with which the sum of all symbols, each times its own power of x, is zero.
    ///
    /// GF(32) is defined by x⁵ + x² + 1. x has order 31, so no two of the 20 positions have the
    /// same weight, and a swap of two different symbols changes the sum.
    private static func check(_ data: [UInt8]) -> UInt8 {
        var sum: UInt8 = 0
        for symbol in data { sum = timesX(sum) ^ symbol }
        return timesX(sum)
    }

    private static func timesX(_ element: UInt8) -> UInt8 {
        let shifted = element << 1
        return shifted & 32 == 0 ? shifted : shifted ^ 0b100101
    }
}
