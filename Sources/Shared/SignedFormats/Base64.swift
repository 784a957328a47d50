// SPDX-License-Identifier: Apache-2.0
/// Base64 as in RFC 4648, implemented here because Embedded Swift has no Foundation.
///
/// Decoding accepts only canonical encodings: no white space, exact padding, and unused bits zero.
/// Two different texts therefore never decode to the same bytes.
package enum Base64 {
    /// The alphabet, and whether the text is padded with `=`.
    package enum Alphabet: Sendable {
        /// Section 4, padded: OpenSSH keys and signatures.
        case standard
        /// Section 5, without padding: values in a statement.
        case url

        fileprivate var characters: StaticString {
            switch self {
            case .standard: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
            case .url: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            }
        }
    }

    /// The value of each ASCII character from `-` to `z` in the URL alphabet, plus 64; a space
    /// stands for a character that is not in the alphabet.
    private static let meanings: StaticString =
        "~  tuvwxyz{|}       @ABCDEFGHIJKLMNOPQRSTUVWXY    \u{7f} Z[\\]^_`abcdefghijklmnopqrs"

    /// Returns the encoding of bytes, padded if the alphabet demands it.
    package static func encode(_ bytes: [UInt8], alphabet: Alphabet) -> [UInt8] {
        let characters = alphabet.characters
        let room = (bytes.count + 2) / 3 * 4
        return unsafe [UInt8](unsafeUninitializedCapacity: room) { text, count in
            var group: UInt32 = 0
            var held: UInt32 = 0
            func put(_ sextet: UInt32) {
                unsafe text[count] = characters.utf8Start[Int(sextet & 63)]
                count += 1
            }
            for byte in bytes {
                group = group << 8 | UInt32(byte)
                held += 8
                while held >= 6 {
                    held -= 6
                    put(group >> held)
                }
            }
            if held > 0 { put(group << (6 - held)) }
            while alphabet == .standard && count % 4 != 0 {
                unsafe text[count] = UInt8(ascii: "=")
                count += 1
            }
        }
    }

    /// Decodes a text; nil unless it is exactly what `encode` returns for the result.
    ///
    /// A character that is not in the alphabet is noticed at the end, because its entry in
    /// `meanings` lacks bit 64. For `.standard`, the result is encoded again and compared, which
    /// also rejects wrong padding and the URL alphabet's own characters.
    package static func decode(_ text: [UInt8], alphabet: Alphabet) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 3)
        var group: UInt32 = 0
        var held: UInt32 = 0
        // The AND of all entries so far: bit 64 is set as long as every character is in the
        // alphabet.
        var sign: UInt8 = 64
        for written in text {
            var character = written
            if alphabet == .standard {
                if character == UInt8(ascii: "=") { break }
                // A literal `-` or `_` is rejected at the end, when the result is encoded again.
                if character == UInt8(ascii: "+") { character = UInt8(ascii: "-") }
                if character == UInt8(ascii: "/") { character = UInt8(ascii: "_") }
            }
            let place = Int(character &- UInt8(ascii: "-"))
            guard place < meanings.utf8CodeUnitCount else { return nil }
            let meaning = unsafe meanings.utf8Start[place]
            sign &= meaning
            group = group << 6 | UInt32(meaning & 63)
            held += 6
            if held == 24 {
                bytes.append(UInt8(truncatingIfNeeded: group >> 16))
                bytes.append(UInt8(truncatingIfNeeded: group >> 8))
                bytes.append(UInt8(truncatingIfNeeded: group))
                held = 0
            }
        }
        guard sign != 0 else { return nil }
        while held >= 8 {
            held -= 8
            bytes.append(UInt8(truncatingIfNeeded: group >> held))
        }
        // Without padding, a text can deviate from the canonical encoding only in its unused bits.
        if alphabet == .url { return held < 6 && group & (1 << held - 1) == 0 ? bytes : nil }
        return encode(bytes, alphabet: alphabet) == text ? bytes : nil
    }
}
