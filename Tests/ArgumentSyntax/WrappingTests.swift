// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Testing

@testable import ArgumentSyntax

@Suite("a help text that is wider than its column")
struct WrappingTests {
    private func lines(_ text: String, _ columns: Int) -> [String] {
        Columns.wrapped(Bytes(text.utf8), columns: columns).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test("goes on in the next line, between words")
    func words() {
        #expect(lines("one two three", 7) == ["one two", "three"])
        #expect(lines("one two three", 8) == ["one two", "three"])
        #expect(lines("één twéé drie", 8) == ["één twéé", "drie"])
        #expect(lines("short", 80) == ["short"])
        #expect(lines("", 8) == [""])
    }

    @Test("is broken where the line is full only if no word ends in it")
    func without() {
        #expect(lines("指紋で認証する", 6) == ["指紋で", "認証す", "る"])
        #expect(lines("abcdefgh ij", 4) == ["abcd", "efgh", "ij"])
    }
}
