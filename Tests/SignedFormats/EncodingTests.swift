// SPDX-License-Identifier: Apache-2.0
import SignedFormats
import TestSupport
import Testing

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

/// RFC 4648, section 10.
private let rfcVectors = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
]

@Suite("Base64")
struct Base64Tests {
    @Test(
        "knows its 64 characters, and no other byte",
        arguments: [(Base64.Alphabet.standard, "+/"), (.url, "-_")])
    func characters(alphabet: Base64.Alphabet, last: String) {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        let all = bytes(letters + letters.lowercased() + "0123456789" + last)
        for byte in UInt8.min...UInt8.max {
            let decoded = Base64.decode([UInt8(ascii: "A"), byte, byte, byte], alphabet: alphabet)
            guard let place = all.firstIndex(of: byte) else {
                #expect(decoded == nil, "byte \(byte)")
                continue
            }
            let group = UInt32(place) << 12 | UInt32(place) << 6 | UInt32(place)
            let plain = [16, 8, 0].map { UInt8(truncatingIfNeeded: group >> $0) }
            #expect(decoded == plain)
            #expect(
                Base64.encode(plain, alphabet: alphabet) == [UInt8(ascii: "A"), byte, byte, byte])
        }
    }

    @Test("has the vectors of RFC 4648", arguments: rfcVectors)
    func vectors(plain: String, coded: String) {
        let unpadded = bytes(coded).filter { $0 != UInt8(ascii: "=") }
        #expect(Base64.encode(bytes(plain), alphabet: .standard) == bytes(coded))
        #expect(Base64.decode(bytes(coded), alphabet: .standard) == bytes(plain))
        #expect(Base64.encode(bytes(plain), alphabet: .url) == unpadded)
        #expect(Base64.decode(unpadded, alphabet: .url) == bytes(plain))
    }

    @Test("the alphabets differ in two characters")
    func alphabets() {
        #expect(Base64.encode([0xFB, 0xEF, 0xFF], alphabet: .standard) == bytes("++//"))
        #expect(Base64.encode([0xFB, 0xEF, 0xFF], alphabet: .url) == bytes("--__"))
        #expect(Base64.decode(bytes("++//"), alphabet: .url) == nil)
        #expect(Base64.decode(bytes("--__"), alphabet: .standard) == nil)
    }

    @Test(
        "another encoding of those bytes is refused",
        arguments: [
            "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm8", "=", "====", "Z", "Zm9vY", "Zg==Zg==",
            "Z g=", "Zm9v\n", "Zm9v=", "Zm9v====", "Zg==a", "\0\0\0\0", "Zm9ü",
        ])
    func refused(text: String) {
        #expect(Base64.decode(bytes(text), alphabet: .standard) == nil)
    }

    @Test(
        "padding and stray bits are refused in the unpadded form", arguments: ["Zg==", "Zh", "Z"])
    func refusedUnpadded(text: String) {
        #expect(Base64.decode(bytes(text), alphabet: .url) == nil)
    }

    @Test(
        "random bytes are decoded as they were encoded",
        arguments: [Base64.Alphabet.standard, .url])
    func roundTrip(alphabet: Base64.Alphabet) {
        var random = Seeded(seed: 1)
        for count in 0..<200 {
            let value = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(
                Base64.decode(Base64.encode(value, alphabet: alphabet), alphabet: alphabet) == value
            )
        }
    }
}

@Suite("Hexadecimal, decimal and percent-encoding")
struct NumberTextTests {
    @Test("hexadecimal is lower case, two characters a byte")
    func hexadecimal() {
        #expect(Hexadecimal.encode([0, 0x0F, 0xA9, 0xFF]) == bytes("000fa9ff"))
        #expect(Hexadecimal.decode(bytes("000fa9ff")) == [0, 0x0F, 0xA9, 0xFF])
        #expect(Hexadecimal.decode([]) == [])
    }

    @Test("other hexadecimal is refused", arguments: ["0", "0F", "0g", " 0", "0x00", "0/", "0`"])
    func hexadecimalRefused(text: String) {
        #expect(Hexadecimal.decode(bytes(text)) == nil)
    }

    @Test(
        "decimal numbers are read as they were written",
        arguments: [0, 1, 9, 10, 42, 99, 100, 1 << 32, UInt64.max - 1, .max] as [UInt64])
    func decimal(number: UInt64) {
        #expect(Decimal.encode(number) == bytes(String(number)))
        #expect(Decimal.decode(Decimal.encode(number)) == number)
    }

    @Test(
        "other decimal is refused",
        arguments: [
            "", "00", "01", "+1", "-1", " 1", "1 ", "1.0", "0x1", "१", "18446744073709551616",
            "99999999999999999999", "184467440737095516150",
        ])
    func decimalRefused(text: String) {
        #expect(Decimal.decode(bytes(text)) == nil)
    }

    @Test("percent-encoding has one form", arguments: hostileValues.indices)
    func percent(index: Int) {
        let (value, written) = hostileValues[index]
        #expect(PercentEncoding.encode(value) == bytes(written))
        #expect(PercentEncoding.decode(bytes(written)) == value)
    }

    @Test(
        "other percent-encoding is refused",
        arguments: ["%", "%2", "%zz", "%0a", "%41", "%C3%A4", "\n", "\u{7F}", "a%", "%%", "%2 5"])
    func percentRefused(text: String) {
        #expect(PercentEncoding.decode(bytes(text)) == nil)
    }
}

@Suite("Instant")
struct InstantTests {
    @Test(
        "has the known texts",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"), (1_709_251_200, "2024-03-01T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_795_195_440, "2026-11-20T17:24:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] as [(UInt64, String)])
    func known(seconds: UInt64, text: String) {
        #expect(Instant(seconds: seconds).text == bytes(text))
        #expect(Instant(text: bytes(text))?.seconds == seconds)
    }

    @Test("every day of four centuries is read as it was written, and months have their days")
    func days() {
        var lengths: [UInt64: Set<UInt64>] = [:]
        for day in 0..<146_097 as Range<UInt64> {
            let instant = Instant(seconds: day * 86_400 + day % 86_400)
            guard Instant(text: instant.text) == instant else {
                Issue.record("day \(day) does not come back")
                return
            }
            let date = instant.civilDate
            lengths[date.month, default: []].insert(date.day)
        }
        let counts = lengths.values.map(\.count).sorted()
        #expect(counts == [29, 30, 30, 30, 30] + Array(repeating: 31, count: 7))
    }

    @Test("what lies after the year 9999 becomes its end")
    func last() {
        #expect(Instant(seconds: .max) == Instant(seconds: Instant.last))
        #expect(Instant(seconds: 1) < Instant(seconds: 2))
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "2026-11-20", "2026-11-20T17:24:00", "2026-11-20T17:24:00z",
            "2026-11-20 17:24:00Z", "2026-11-20T17:24:00+", "2026-11-20T17:24:00Z ",
            "1969-12-31T23:59:59Z", "2026-00-20T17:24:00Z", "2026-13-20T17:24:00Z",
            "2026-11-00T17:24:00Z", "2026-11-31T17:24:00Z", "2026-02-29T17:24:00Z",
            "2100-02-29T00:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T17:60:00Z",
            "2026-11-20T17:24:60Z", "2026/11/20T17:24:00Z", "-026-11-20T17:24:00Z",
            "2026-1 -20T17:24:00Z", "20260-1-20T17:24:00Z",
        ])
    func refused(text: String) {
        #expect(Instant(text: bytes(text)) == nil)
    }
}
