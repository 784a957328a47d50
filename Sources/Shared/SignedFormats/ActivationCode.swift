// SPDX-License-Identifier: Apache-2.0
/// Why typed text is not an activation code.
package enum ActivationCodeFault: Error, Equatable {
    /// It has too few or too many characters.
    case length
    /// It has a character that codes do not use.
    case character
    /// The check character is wrong, so something was mistyped.
    case mistyped
}

/// The code that starts a registration: `XXXXX-XXXXX-XXXXX-XXXXX`, 95 random bits.
///
/// It uses Crockford's 32 characters, without I, L, O and U. The last character is a checksum over
/// GF(32), which detects every mistyped character and every transposition of two without asking the
/// server.
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

    /// Creates a code from 19 random bytes, using five bits of each; nil for another count.
    package init?(random: [UInt8]) {
        guard random.count == ActivationCode.randomCount else { return nil }
        let data = random.map { $0 & 31 }
        symbols = data + [ActivationCode.check(data)]
    }

    /// Parses typed text: in upper or lower case, with or without hyphens and spaces, with I and L
    /// for 1 and O for 0.
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

    /// The only form that is shown and hashed: upper case, in groups of five.
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

    /// The symbol that makes the sum of all symbols, each times its own power of x, zero.
    ///
    /// GF(32) is defined by x⁵ + x² + 1, where x has order 31, so no two of 20 positions have equal
    /// weight.
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
