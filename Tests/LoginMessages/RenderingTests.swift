// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import Testing

private func bytes(_ text: String) -> Bytes { Bytes(text.utf8) }

/// A text in a language that has these translations.
private func render(_ text: Text, _ translations: [String: String]) -> String {
    let rendered = text.rendered { pattern in
        translations[String(decoding: pattern, as: UTF8.self)].map(bytes)
    }
    return String(decoding: rendered, as: UTF8.self)
}

private let greeting: Text = "\(bytes("alice")) has \(number: UInt8(3)) fingers"
private let pattern = "%1$s has %2$s fingers"

@Suite("Texts in other languages")
struct RenderingTests {
    @Test("a text is looked up by its words and the places of what is filled in")
    func patterns() {
        #expect(greeting.pattern == bytes(pattern))
        #expect(("plain" as Text).pattern == bytes("plain"))
        #expect(("50 % of \(bytes("x"))" as Text).pattern == bytes("50 %% of %1$s"))
        #expect(Text(escaping: bytes("100 %")).pattern == bytes("%1$s"))
        #expect(greeting.bytes == bytes("alice has 3 fingers"))
        #expect(("50 % of \(bytes("5 %"))" as Text).bytes == bytes("50 % of 5 %"))
    }

    @Test("arguments stand in the places that the language needs")
    func arguments() {
        #expect(render(greeting, [pattern: "%2$s Finger hat %1$s"]) == "3 Finger hat alice")
        #expect(render(greeting, [pattern: "%1$s, %1$s: %2$s"]) == "alice, alice: 3")
        #expect(render(greeting, [pattern: "%1$s%2$s"]) == "alice3")
        #expect(render(greeting, [pattern: "%%%1$s %2$s%%"]) == "%alice 3%")
        #expect(render("plain", ["plain": "schlicht"]) == "schlicht")
    }

    @Test(
        "a translation that is not sound is not used: the text is English",
        arguments: [
            // One is missing.
            "%1$s hat Finger", "%2$s Finger", "Finger", "",
            // One too many, or out of any range.
            "%1$s %2$s %3$s", "%1$s %2$s %0$s", "%1$s %2$s %18446744073709551617$s",
            // Not the form that ours have.
            "%s hat %s", "%1$s %2$d", "%1$s %2$", "%1$s %2", "%1$s %2$s %", "%1$s %2$s %n",
            "%1$s %2$s %5%", "%1$s %2$s %1$-5s", "%1$s %02$s",
            // Controls, and what changes the direction of writing.
            "%1$s\n%2$s", "%1$s\u{1B}[2J%2$s", "%1$s \u{202E}%2$s", "%1$s %2$s\0",
        ])
    func unsound(translation: String) {
        #expect(render(greeting, [pattern: translation]) == "alice has 3 fingers")
    }

    @Test("a translation that is not UTF-8 is not used")
    func encoding() {
        let rendered = greeting.rendered { _ in bytes("%1$s hat %2$s ") + [0xFC] }
        #expect(rendered == bytes("alice has 3 fingers"))
    }

    @Test("what is filled in is never looked up, nor taken for a pattern")
    func outside() {
        let hostile: Text = "hello \(bytes("%1$s %2$s %n 100%\u{1B}"))"
        #expect(render(hostile, [:]) == "hello %1$s %2$s %n 100%\\x1b")
        #expect(
            render(hostile, ["hello %1$s": "hallo %1$s", "%1$s %2$s %n 100%": "x"])
                == "hallo %1$s %2$s %n 100%\\x1b")
    }

    @Test("a text within a text is in its language")
    func nesting() {
        let inner: Text = "\(number: UInt8(2)) fingers"
        let outer: Text = "\(bytes("alice")): \(inner)"
        let translations = ["%1$s: %2$s": "%2$s bei %1$s", "%1$s fingers": "%1$s Finger"]
        #expect(render(outer, translations) == "2 Finger bei alice")
        // Each falls back on its own.
        #expect(render(outer, ["%1$s fingers": "%1$s Finger"]) == "alice: 2 Finger")
        #expect(render(outer, ["%1$s: %2$s": "%2$s bei %1$s"]) == "2 fingers bei alice")
    }

    @Test("what the daemon says more is translated whole, or in front of a colon, or stays")
    func details() {
        func shown(_ detail: String) -> String {
            render(
                "failed: \(detail: bytes(detail))",
                [
                    "failed: %1$s": "fehlgeschlagen: %1$s", "no answer": "keine Antwort",
                    "no TPM: %1$s": "kein TPM: %1$s", "100 %% wrong": "zu 100 %% falsch",
                    "odd: %1$s": "seltsam", "%1$s": "%1$s!",
                ])
        }
        #expect(shown("no answer") == "fehlgeschlagen: keine Antwort")
        #expect(shown("no TPM: 0x910: x") == "fehlgeschlagen: kein TPM: 0x910: x")
        #expect(shown("no TPM: no answer") == "fehlgeschlagen: kein TPM: no answer")
        #expect(shown("100 % wrong") == "fehlgeschlagen: zu 100 % falsch")
        #expect(shown("odd: %1$s") == "fehlgeschlagen: odd: %1$s")
        #expect(shown("%1$s") == "fehlgeschlagen: %1$s")
        #expect(shown("no TPM:") == "fehlgeschlagen: no TPM:")
        #expect(shown(": ") == "fehlgeschlagen: : ")
        #expect(shown("no\nanswer") == "fehlgeschlagen: no\\x0aanswer")
        #expect(shown("") == "fehlgeschlagen: ")
    }

    @Test("two texts are equal if they say the same thing in English")
    func equality() {
        #expect(greeting == "alice has 3 fingers")
        #expect(greeting != "alice has 4 fingers")
    }
}

@Suite("Columns of a terminal")
struct ColumnTests {
    @Test("what is wide takes two, and what stands over a letter takes none")
    func widths() {
        let widths = [
            ("", 0), ("alice", 5), ("größe", 5), ("gro\u{308}ße", 5), ("指", 2), ("リーダー", 8),
            ("ｱ", 1), ("、。", 4), ("한국", 4), ("Ａ", 2), ("👆", 2), ("…", 1), ("\u{200B}", 0),
        ]
        for (text, width) in widths { #expect(Columns.count(of: bytes(text)) == width, "\(text)") }
    }

    @Test("the beginning of a line never takes more than there are")
    func beginnings() {
        #expect(Columns.prefix(of: bytes("指を触れる"), columns: 5) == bytes("指を"))
        #expect(Columns.prefix(of: bytes("指を触れる"), columns: 4) == bytes("指を"))
        #expect(Columns.prefix(of: bytes("指"), columns: 1).isEmpty)
        #expect(Columns.prefix(of: bytes("alice"), columns: 80) == bytes("alice"))
    }

    @Test("cells stand below each other in the language that they are shown in")
    func cells() {
        let column: [Text] = ["reader", "id"]
        let line: Text = "\(cell: column[1], column: column)\(bytes("x"))"
        #expect(line.bytes == bytes("id      x"))
        #expect(render(line, ["reader": "リーダー", "id": "ID"]) == "ID        x")
    }
}
