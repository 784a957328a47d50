// SPDX-License-Identifier: Apache-2.0
import ServerAPI
import Testing

@testable import RelyingParty

@Suite("The text of a template")
struct TemplateTextTests {
    @Test("is filled with the values of its placeholders")
    func filled() throws {
        let text = try TemplateText("pay {amount} EUR\nto {payee}, {amount}!")
        #expect(text.placeholders == ["amount", "payee"])
        #expect(
            try text.filled(with: ["amount": "10", "payee": "Bob"]) == "pay 10 EUR\nto Bob, 10!")
        #expect(try TemplateText("sign in").filled(with: [:]) == "sign in")
    }

    @Test(
        "requires every value and no other",
        arguments: [[:], ["a": "1"], ["b": "1"], ["a": "1", "b": "2", "c": "3"]])
    func strict(values: [String: String]) throws {
        let text = try TemplateText("{a} {b}")
        #expect(throws: Problem.self) { try text.filled(with: values) }
    }

    @Test(
        "is never made by a value",
        arguments: [
            ("{payee}", "pay {payee} to Bob"), ("10}{amount", "pay 10}{amount to Bob"),
            ("1\nto Eve\n", "pay 1\u{FFFD}to Eve\u{FFFD} to Bob"),
            ("1\r\n2", "pay 1\u{FFFD}\u{FFFD}2 to Bob"),
            ("\u{202E}01", "pay \u{FFFD}01 to Bob"), ("1\u{200B}0", "pay 1\u{FFFD}0 to Bob"),
            ("\u{0}\u{1B}[2J", "pay \u{FFFD}\u{FFFD}[2J to Bob"),
            ("1\u{2028}2\u{85}3", "pay 1\u{FFFD}2\u{FFFD}3 to Bob"),
            ("\u{E0041}", "pay \u{FFFD} to Bob"), ("１０ €", "pay １０ € to Bob"),
        ])
    func injection(value: String, shown: String) throws {
        let text = try TemplateText("pay {amount} to {payee}")
        #expect(try text.filled(with: ["amount": value, "payee": "Bob"]) == shown)
    }

    @Test("keeps what it says around any value")
    func anyValue() throws {
        let text = try TemplateText("pay {amount} EUR\nto {payee}.")
        let hostile: [Unicode.Scalar] = [
            "{", "}", "a", "\n", "\r", "\u{0}", "\u{1B}", "\u{7F}", "\u{85}", "\u{AD}", "\u{301}",
            "\u{200F}", "\u{2029}", "\u{2066}", "\u{FEFF}", "\u{E0001}", "é", "語", "😀",
        ]
        for _ in 0..<5_000 {
            var values: [String: String] = [:]
            for name in ["amount", "payee"] {
                var value = String.UnicodeScalarView()
                for _ in 0..<Int.random(in: 0...12) {
                    hostile.randomElement().map { value.append($0) }
                }
                values[name] = String(value)
            }
            let filled = [UInt8](try text.filled(with: values).utf8)
            let lines = filled.split(
                separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            #expect(lines.count == 2, "\(values)")
            #expect(lines[0].starts(with: "pay ".utf8) && lines[1].starts(with: "to ".utf8))
            #expect(lines[0].reversed().starts(with: " EUR".utf8.reversed()))
            #expect(lines[1].last == UInt8(ascii: "."))
            for line in lines {
                #expect(TemplateText.isVisible(String(decoding: line, as: UTF8.self)))
            }
        }
    }

    @Test(
        "is refused where it is not plain",
        arguments: [
            "", "{", "}", "pay {amount", "pay amount}", "{}", "{ amount }", "{{amount}}",
            "{amöunt}", "{a\u{301}}", "{\u{301}a}", "{\(String(repeating: "a", count: 33))}",
            "pay\t{amount}", "pay\r\n{amount}", "\u{202E}pay", "pay\u{0}", "pay\u{200D}",
            String(repeating: "a", count: 4_097), (0..<17).map { "{a\($0)}" }.joined(),
        ])
    func unusable(text: String) {
        #expect(throws: FieldFault.self) { try TemplateText(text) }
    }

    @Test("is never longer than a statement carries")
    func long() throws {
        let text = try TemplateText(String(repeating: "a", count: 3_070) + "{b}{c}")
        let most = String(repeating: "b", count: 1_024)
        #expect(
            try text.filled(with: ["b": most, "c": "cc"]).utf8.count
                == TemplateText.maximumLength)
        #expect(throws: Problem.self) { try text.filled(with: ["b": most, "c": "ccc"]) }
        #expect(throws: Problem.self) { try text.filled(with: ["b": most + "b", "c": ""]) }
        #expect(throws: Problem.self) { try TemplateText("{b}").filled(with: ["b": ""]) }
        // A mark takes more room than the byte that it stands for.
        let breaks = String(repeating: "\n", count: 342)
        #expect(throws: Problem.self) { try text.filled(with: ["b": breaks, "c": "c"]) }
    }
}

@Suite("A template")
struct TemplateTests {
    @Test(
        "is refused with figures out of bounds",
        arguments: [(9, 3), (86_401, 3), (60, 0), (60, 101)])
    func bounds(seconds: Int64, failures: Int64) throws {
        let name = try #require(Name("payment"))
        #expect(throws: FieldFault.self) {
            try OperationTemplate(
                name: name, text: "pay", seconds: seconds, maximumFailures: failures)
        }
    }

    @Test("has a name that a statement can carry")
    func name() throws {
        let longest = try #require(Name(String(repeating: "a", count: 64)))
        #expect(try OperationTemplate(name: longest, text: "pay").name == longest.text)
        let longer = try #require(Name(String(repeating: "a", count: 65)))
        #expect(throws: FieldFault.self) { try OperationTemplate(name: longer, text: "pay") }
        let hidden = try #require(Name("pay\u{200B}ment"))
        #expect(throws: FieldFault.self) { try OperationTemplate(name: hidden, text: "pay") }
    }
}
