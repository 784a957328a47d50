// SPDX-License-Identifier: Apache-2.0
import SignedFormats
import Testing

@Suite("parts between separators")
struct PartsTests {
    @Test(
        "all are there, empty ones too",
        arguments: [
            ("", [""]), ("a", ["a"]), (":", ["", ""]), ("a:b", ["a", "b"]), (":a", ["", "a"]),
            ("a::b:", ["a", "", "b", ""]),
        ])
    func all(text: String, expected: [String]) {
        let parts = Array(text.utf8).parts(between: UInt8(ascii: ":"))
        #expect(parts == expected.map { Array($0.utf8) })
    }

    @Test("the last of so many keeps the rest")
    func most() {
        let text = Array("a b c d".utf8)
        let parts = text.parts(between: UInt8(ascii: " "), most: 3)
        #expect(parts == ["a", "b", "c d"].map { Array($0.utf8) })
        #expect(text.parts(between: UInt8(ascii: " "), most: 1) == [text])
    }
}
