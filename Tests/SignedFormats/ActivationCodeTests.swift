// SPDX-License-Identifier: Apache-2.0
import SignedFormats
import TestSupport
import Testing

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

@Suite("An activation code")
struct ActivationCodeTests {
    private let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private func code(seed: UInt64) throws -> ActivationCode {
        var random = Seeded(seed: seed)
        let entropy = (0..<19).map { _ in UInt8.random(in: 0...255, using: &random) }
        return try #require(ActivationCode(random: entropy))
    }

    @Test("is four groups of five, and its check is known")
    func form() throws {
        let zeros = try #require(ActivationCode(random: [UInt8](repeating: 0, count: 19)))
        #expect(zeros.text == bytes("00000-00000-00000-00000"))
        let counted = try #require(ActivationCode(random: [UInt8](0..<19)))
        #expect(counted.text.starts(with: bytes("01234-56789-ABCDE-FGHJ")))
        let one = try #require(ActivationCode(random: [UInt8](repeating: 0, count: 18) + [1]))
        #expect(one.text == bytes("00000-00000-00000-00012"))
    }

    @Test("another number of random bytes makes none", arguments: [0, 18, 20])
    func counts(count: Int) {
        #expect(ActivationCode(random: [UInt8](repeating: 0, count: count)) == nil)
    }

    @Test("is read in any case, with or without hyphens and spaces, with I, L and O")
    func normalised() throws {
        for seed in 0..<50 as Range<UInt64> {
            let code = try code(seed: seed)
            let text = String(decoding: code.text, as: UTF8.self)
            let compact = text.filter { $0 != "-" }
            let spaced = " " + text.map { $0 == "-" ? "  " : String($0) }.joined() + " "
            let lower = text.lowercased()
            let alike = compact.map { $0 == "1" ? "l" : $0 == "0" ? "o" : String($0) }.joined()
            let other = compact.map { $0 == "1" ? "I" : $0 == "0" ? "O" : String($0) }.joined()
            for typed in [text, compact, spaced, lower, alike, other] {
                #expect(try ActivationCode(typed: bytes(typed)) == code)
            }
        }
    }

    @Test("every single mistyped character is detected, at every place")
    func substitutions() throws {
        let code = try code(seed: 1)
        let text = code.text
        for index in text.indices where text[index] != UInt8(ascii: "-") {
            for character in alphabet where character != text[index] {
                var typed = text
                typed[index] = character
                #expect(throws: ActivationCodeFault.mistyped) { try ActivationCode(typed: typed) }
            }
        }
    }

    @Test("every exchange of two characters is detected")
    func transpositions() throws {
        let compact = try code(seed: 2).text.filter { $0 != UInt8(ascii: "-") }
        for first in compact.indices {
            for second in compact.indices where compact[first] != compact[second] {
                var typed = compact
                typed.swapAt(first, second)
                #expect(throws: ActivationCodeFault.mistyped) { try ActivationCode(typed: typed) }
            }
        }
    }

    @Test("too short, too long or with a character of no code it is refused")
    func refused() throws {
        let compact = try code(seed: 3).text.filter { $0 != UInt8(ascii: "-") }
        for count in 0..<20 {
            #expect(throws: ActivationCodeFault.length) {
                try ActivationCode(typed: Array(compact[..<count]))
            }
        }
        #expect(throws: ActivationCodeFault.length) {
            try ActivationCode(typed: compact + bytes("0"))
        }
        #expect(throws: ActivationCodeFault.length) {
            try ActivationCode(typed: compact + [UInt8](repeating: 0x2D, count: 45))
        }
        for byte in 0...255 as ClosedRange<UInt8> {
            let upper = (0x61...0x7A).contains(byte) ? byte - 32 : byte
            guard !alphabet.contains(upper), !bytes("-ILO ").contains(upper) else { continue }
            #expect(throws: ActivationCodeFault.character) {
                try ActivationCode(typed: [byte] + compact.dropFirst())
            }
        }
    }
}
