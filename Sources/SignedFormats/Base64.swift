// SPDX-License-Identifier: Apache-2.0
/// Base64 of RFC 4648, without Foundation: Embedded Swift has none.
package enum Base64 {
    /// Which 64 characters, and whether `=` fills the last group.
    package enum Alphabet: Sendable {
        /// Section 4, padded: OpenSSH keys and signatures.
        case standard
        /// Section 5, not padded: values in a statement.
        case url

        fileprivate var characters: StaticString {
            switch self {
            case .standard: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
            case .url: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            }
        }
    }

    /// What each ASCII character from `-` to `z` stands for in the URL's alphabet, and 64 more; a
    /// blank for those that stand for nothing.
    private static let meanings: StaticString =
        "~  tuvwxyz{|}       @ABCDEFGHIJKLMNOPQRSTUVWXY    \u{7f} Z[\\]^_`abcdefghijklmnopqrs"

    /// The text of some bytes.
    package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet) -> [UInt8] {
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

    /// The bytes of a text, or nil unless it is exactly what `encode` makes of them.
    package static func decode(_ text: [UInt8], _ alphabet: Alphabet) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 3)
        var group: UInt32 = 0
        var held: UInt32 = 0
        // Of each character's meaning, the bit that only those of the alphabet have.
        var sign: UInt8 = 64
        for written in text {
            var character = written
            if alphabet == .standard {
                if character == UInt8(ascii: "=") { break }
                // What stands for these in a URL is found when it is written again.
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
        // Without padding only the bits that are left over could differ.
        if alphabet == .url { return held < 6 && group & (1 << held - 1) == 0 ? bytes : nil }
        return encode(bytes, alphabet) == text ? bytes : nil
    }
}
