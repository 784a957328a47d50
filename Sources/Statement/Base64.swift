/// Base64 of RFC 4648, without Foundation: Embedded Swift has none.
package enum Base64 {
    /// Which 64 characters, and whether `=` fills the last group.
    package enum Alphabet: Sendable {
        /// Section 4, padded: OpenSSH keys and signatures.
        case standard
        /// Section 5, not padded: values in a statement.
        case url

        fileprivate var last: (UInt8, UInt8) {
            switch self {
            case .standard: (UInt8(ascii: "+"), UInt8(ascii: "/"))
            case .url: (UInt8(ascii: "-"), UInt8(ascii: "_"))
            }
        }

        fileprivate func character(_ sextet: UInt8) -> UInt8 {
            switch sextet {
            case 0..<26: UInt8(ascii: "A") + sextet
            case 26..<52: UInt8(ascii: "a") + sextet - 26
            case 52..<62: UInt8(ascii: "0") + sextet - 52
            case 62: last.0
            default: last.1
            }
        }

        fileprivate func sextet(_ character: UInt8) -> UInt8? {
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
            case last.0: 62
            case last.1: 63
            default: nil
            }
        }
    }

    /// The text of some bytes.
    package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 8
            while held >= 6 {
                held -= 6
                text.append(alphabet.character(UInt8(truncatingIfNeeded: group >> held) & 63))
            }
        }
        if held > 0 {
            text.append(alphabet.character(UInt8(truncatingIfNeeded: group << (6 - held)) & 63))
        }
        if alphabet == .standard {
            while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        }
        return text
    }

    /// The bytes of a text, or nil unless it is exactly what `encode` makes of them.
    package static func decode(_ text: [UInt8], _ alphabet: Alphabet) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var held = 0
        for character in text {
            if alphabet == .standard, character == UInt8(ascii: "=") { break }
            guard let sextet = alphabet.sextet(character) else { return nil }
            group = group << 6 | UInt32(sextet)
            held += 6
            if held >= 8 {
                held -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> held))
            }
        }
        // Without padding only the bits that are left over could differ.
        if alphabet == .url { return held < 6 && group << (32 - held) == 0 ? bytes : nil }
        return encode(bytes, alphabet) == text ? bytes : nil
    }
}
