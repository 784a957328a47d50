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
    }

    // Both reckon, and neither branches: what comes is random, so every other branch would be
    // guessed wrong; and so sixteen are done at once. `(a - b) >> 8` is all ones where a is less than
    // b, and nothing otherwise. The last two characters are the alphabet's own.

    /// The character of six bits.
    @inline(__always)
    private static func character(_ sextet: Int16, _ last: (UInt8, UInt8)) -> UInt8 {
        let (next, end) = (Int16(last.0), Int16(last.1))
        var character = sextet &+ 65
        character &+= (25 &- sextet) &>> 8 & 6
        character &-= (51 &- sextet) &>> 8 & 75
        character &+= (61 &- sextet) &>> 8 & (next &- 58)
        character &+= (62 &- sextet) &>> 8 & (end &- next &- 1)
        return UInt8(truncatingIfNeeded: character)
    }

    /// -1 for what is none of the characters.
    @inline(__always)
    private static func sextet(_ character: UInt8, _ last: (UInt8, UInt8)) -> Int16 {
        let (byte, next, end) = (Int16(character), Int16(last.0), Int16(last.1))
        var sextet: Int16 = -1
        sextet &+= ((64 &- byte) & (byte &- 91)) &>> 8 & (byte &- 64)
        sextet &+= ((96 &- byte) & (byte &- 123)) &>> 8 & (byte &- 70)
        sextet &+= ((47 &- byte) & (byte &- 58)) &>> 8 & (byte &+ 5)
        sextet &+= ((next &- 1 &- byte) & (byte &- next &- 1)) &>> 8 & 63
        sextet &+= ((end &- 1 &- byte) & (byte &- end &- 1)) &>> 8 & 64
        return sextet
    }

    /// The text of some bytes.
    package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet) -> [UInt8] {
        let last = alphabet.last
        let room = (bytes.count + 2) / 3 * 4
        return unsafe [UInt8](unsafeUninitializedCapacity: room) { text, count in
            var group: UInt32 = 0
            var held: UInt32 = 0
            for byte in bytes {
                group = group << 8 | UInt32(byte)
                held += 8
                while held >= 6 {
                    held -= 6
                    unsafe text[count] = UInt8(truncatingIfNeeded: group >> held) & 63
                    count += 1
                }
            }
            if held > 0 {
                unsafe text[count] = UInt8(truncatingIfNeeded: group << (6 - held)) & 63
                count += 1
            }
            for place in 0..<count {
                unsafe text[place] = character(Int16(text[place]), last)
            }
            while alphabet == .standard && count % 4 != 0 {
                unsafe text[count] = UInt8(ascii: "=")
                count += 1
            }
        }
    }

    /// The bytes of a text, or nil unless it is exactly what `encode` makes of them.
    package static func decode(_ text: [UInt8], _ alphabet: Alphabet) -> [UInt8]? {
        let last = alphabet.last
        let padding = alphabet == .standard ? text.firstIndex(of: UInt8(ascii: "=")) : nil
        let length = padding ?? text.count
        var signs: Int16 = 0
        var group: UInt32 = 0
        var held: UInt32 = 0
        // First each character's six bits, and then these together, in their own place.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
            unsafe text.withUnsafeBufferPointer { text in
                for place in 0..<length {
                    let sextet = unsafe sextet(text[place], last)
                    signs |= sextet
                    unsafe bytes[place] = UInt8(truncatingIfNeeded: sextet) & 63
                }
            }
            for place in 0..<length {
                group = unsafe group << 6 | UInt32(bytes[place])
                held += 6
                if held >= 8 {
                    held -= 8
                    unsafe bytes[count] = UInt8(truncatingIfNeeded: group >> held)
                    count += 1
                }
            }
        }
        guard signs >= 0 else { return nil }
        // Without padding only the bits that are left over could differ.
        if alphabet == .url { return held < 6 && group << (32 - held) == 0 ? bytes : nil }
        return encode(bytes, alphabet) == text ? bytes : nil
    }
}
